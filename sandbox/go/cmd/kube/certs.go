package main

import (
	"crypto"
	"crypto/x509"
	"net"

	"k8s.io/client-go/util/cert"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"
)

// writeCertificates creates the certificates of the control plane: ca, apiserver and admin as NAME.crt and NAME.key,
// and the signing key of service account tokens as sa.key. The API server is also reached at the given addresses.
func writeCertificates(directory string, addresses []net.IP) error {
	caCertificate, caKey, err := pkiutil.NewCertificateAuthority(config(cert.Config{CommonName: "sandbox"}))
	if err != nil {
		return err
	}
	if err := pkiutil.WriteCertAndKey(directory, "ca", caCertificate, caKey); err != nil {
		return err
	}
	for name, subject := range map[string]cert.Config{
		"apiserver": {
			CommonName: "kube-apiserver",
			Usages:     []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
			AltNames: cert.AltNames{
				IPs:      append([]net.IP{net.IPv4(127, 0, 0, 1)}, addresses...),
				DNSNames: []string{"localhost", "kubernetes.default.svc"},
			},
		},
		// Members of system:masters are administrators without any RBAC object.
		"admin": {
			CommonName:   "sandbox-admin",
			Organization: []string{"system:masters"},
			Usages:       []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		},
	} {
		if err := writeSigned(directory, name, subject, caCertificate, caKey); err != nil {
			return err
		}
	}
	serviceAccountKey, err := pkiutil.GeneratePrivateKey(kubeadm.EncryptionAlgorithmECDSAP256)
	if err != nil {
		return err
	}
	return pkiutil.WriteKey(directory, "sa", serviceAccountKey)
}

func writeSigned(directory, name string, subject cert.Config, caCertificate *x509.Certificate, caKey crypto.Signer) error {
	certificate, key, err := pkiutil.NewCertAndKey(caCertificate, caKey, config(subject))
	if err != nil {
		return err
	}
	return pkiutil.WriteCertAndKey(directory, name, certificate, key)
}

// config selects elliptic curves, because generating an RSA key takes up to a second.
func config(subject cert.Config) *pkiutil.CertConfig {
	return &pkiutil.CertConfig{Config: subject, EncryptionAlgorithm: kubeadm.EncryptionAlgorithmECDSAP256}
}
