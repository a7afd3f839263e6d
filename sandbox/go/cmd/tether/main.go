// Command tether runs one command that must not outlive its parent process:
//
//	tether [--grace 10s] [--pid-file FILE] -- COMMAND [ARGUMENT...]
//
// The parent holds the other end of tether's standard input. When the parent closes it or ends, also by SIGKILL, the
// command's process group gets SIGTERM and, after the grace period, SIGKILL. tether exits with the command's exit code,
// or 128 + the number of the signal that ended it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	grace := flag.Duration("grace", 10*time.Second, "time between SIGTERM and SIGKILL")
	pidFile := flag.String("pid-file", "", "file to which the command's process id is written")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: tether [--grace 10s] [--pid-file FILE] -- COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(flag.Args(), *grace, *pidFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tether:", err)
		os.Exit(127)
	}
	os.Exit(code)
}

func run(command []string, grace time.Duration, pidFile string) (int, error) {
	// The kernel sends the parent-death signal when the thread that started the command ends.
	runtime.LockOSThread()

	// Before the start: a signal in between must not end tether without the command.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)

	child := exec.Command(command[0], command[1:]...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = ownGroup()
	if err := child.Start(); err != nil {
		return 0, err
	}
	group := -child.Process.Pid

	if pidFile != "" {
		if err := writeAtomically(pidFile, strconv.Itoa(child.Process.Pid)); err != nil {
			return 0, errors.Join(err, syscall.Kill(group, syscall.SIGKILL), child.Wait())
		}
	}

	parentGone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(parentGone)
	}()
	ended := make(chan struct{})
	go func() {
		_ = child.Wait() // the error only says that the exit code is not 0: see exitCode
		close(ended)
	}()

	var deadline <-chan time.Time
	for {
		select {
		case <-parentGone:
			parentGone = nil
			_ = syscall.Kill(group, syscall.SIGTERM)
			deadline = time.After(grace)
		case received := <-signals:
			_ = syscall.Kill(group, received.(syscall.Signal))
			deadline = time.After(grace)
		case <-deadline:
			_ = syscall.Kill(group, syscall.SIGKILL)
		case <-ended:
			// Ends processes that the command left in its group.
			_ = syscall.Kill(group, syscall.SIGKILL)
			return exitCode(child.ProcessState), nil
		}
	}
}

func exitCode(state *os.ProcessState) int {
	if status := state.Sys().(syscall.WaitStatus); status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// writeAtomically writes a file that a reader sees either complete or not at all.
func writeAtomically(path, content string) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
