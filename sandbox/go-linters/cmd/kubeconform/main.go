// Checks files of resources as kubeconform -strict does: the first argument is a schema location, the others
// are files. Prints invalid resources, and the number of valid ones, as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/yannh/kubeconform/pkg/validator"
)

type finding struct {
	File    string `json:"file"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

type answer struct {
	Valid    int       `json:"valid"`
	Findings []finding `json:"findings"`
}

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(location string, files []string) error {
	kubeconform, err := validator.New([]string{location}, validator.Opts{
		Strict:               true,
		IgnoreMissingSchemas: true, // kinds of Kubernetes
	})
	if err != nil {
		return err
	}
	result := answer{Findings: []finding{}}
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		for _, each := range kubeconform.Validate(name, file) {
			switch each.Status {
			case validator.Valid:
				result.Valid++
			case validator.Invalid, validator.Error:
				found := finding{File: name, Message: each.Err.Error()}
				if signature, err := each.Resource.Signature(); err == nil {
					found.Kind, found.Name = signature.Kind, signature.Name
				}
				result.Findings = append(result.Findings, found)
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
