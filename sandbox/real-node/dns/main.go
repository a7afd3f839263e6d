// Command dns is CoreDNS with the plugins that a cluster without any other name server needs.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() {
	// In the order in which they see a query.
	dnsserver.Directives = []string{"ready", "errors", "kubernetes"}
	coremain.Run()
}
