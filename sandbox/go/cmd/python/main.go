// Command python unpacks a portable CPython with pip into a folder and prints the path of its interpreter. It serves
// machines without a Python of the version that the hub requires, so that Go and Node are the only prerequisites.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kluctl/go-embed-python/pip"
	"github.com/kluctl/go-embed-python/python"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: python DIRECTORY")
		os.Exit(2)
	}
	interpreter, err := unpack(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "python:", err)
		os.Exit(1)
	}
	fmt.Println(interpreter)
}

func unpack(directory string) (string, error) {
	portable, err := python.NewEmbeddedPythonWithTmpDir(directory, false)
	if err != nil {
		return "", err
	}
	interpreter, err := portable.PythonCmd("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
	if err != nil {
		return "", err
	}
	sitePackages, err := interpreter.Output()
	if err != nil {
		return "", fmt.Errorf("cannot run the unpacked interpreter: %w", err)
	}
	library, err := pip.NewPipLib(fmt.Sprint(os.Getpid()))
	if err != nil {
		return "", err
	}
	defer library.Cleanup()
	destination := filepath.Clean(string(sitePackages[:len(sitePackages)-1]))
	return interpreter.Path, os.CopyFS(destination, os.DirFS(library.GetExtractedPath()))
}
