// Command tether runs one command that must not outlive its starter:
//
//	tether [--grace 10s] [--pid-file FILE] -- COMMAND [ARGUMENT...]
//
// The starter holds the other end of tether's standard input. When that closes, because the starter closed it or died in
// whatever way (kill -9 too), the command's whole process group gets SIGTERM and, after the grace, SIGKILL. tether ends
// with the command's exit code, or 128 + the signal that ended it.
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
	pidFile := flag.String("pid-file", "", "where to write the command's process id")
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
	// The kernel sends the parent-death signal when the starting *thread* ends.
	runtime.LockOSThread()

	// Before the start: a signal in between must not end tether and leave the command alone.
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
		if err := writeWhole(pidFile, strconv.Itoa(child.Process.Pid)); err != nil {
			return 0, errors.Join(err, syscall.Kill(group, syscall.SIGKILL), child.Wait())
		}
	}

	starterGone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(starterGone)
	}()
	ended := make(chan struct{})
	go func() {
		_ = child.Wait() // an unsuccessful end is an error here; exitCode tells it
		close(ended)
	}()

	var deadline <-chan time.Time
	for {
		select {
		case <-starterGone:
			starterGone = nil
			_ = syscall.Kill(group, syscall.SIGTERM)
			deadline = time.After(grace)
		case received := <-signals:
			_ = syscall.Kill(group, received.(syscall.Signal))
			deadline = time.After(grace)
		case <-deadline:
			_ = syscall.Kill(group, syscall.SIGKILL)
		case <-ended:
			// What the command left behind in its group goes with it.
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

// writeWhole lets a reader see either no file or all of it.
func writeWhole(path, content string) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, []byte(content), 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
