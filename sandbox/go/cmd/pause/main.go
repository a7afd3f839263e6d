// Command pause does nothing until SIGTERM, as the first process of a process namespace: of a pod, whose namespaces it
// holds, and of a real node. The orphans of the namespace become its children.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	orphans := make(chan os.Signal, 1)
	signal.Notify(orphans, syscall.SIGCHLD)
	for {
		select {
		case <-ended:
			return
		case <-orphans:
			for {
				pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
				if pid <= 0 && err != syscall.EINTR {
					break
				}
			}
		}
	}
}
