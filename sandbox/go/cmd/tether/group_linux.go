package main

import "syscall"

// ownGroup also lets the kernel kill the command when tether itself is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
