package main

import "syscall"

// ownGroup puts the command into its own process group and has the kernel kill the command when tether is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
