// Command tether runs one command that must not outlive its parent process:
//
//	tether [--grace 10s] [--pid-file FILE] [--fork-server ADDRESS] -- COMMAND [ARGUMENT...]
//
// The parent holds the other end of tether's standard input. When the parent closes it or ends, also by SIGKILL, the
// command's process group gets SIGTERM and, after the grace period, SIGKILL. tether exits with the command's exit code,
// or 128 + the number of the signal that ended it.
//
// With --fork-server the server at this address runs the command, a Python program, as a fork of itself; where it does
// not, tether starts the command itself.
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
	server := flag.String("fork-server", "", "abstract Unix address of the server that runs the command")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: tether [--grace 10s] [--pid-file FILE] [--fork-server ADDRESS] -- COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	code, err := run(flag.Args(), *grace, *pidFile, *server)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tether:", err)
		os.Exit(127)
	}
	os.Exit(code)
}

// child is the command while it runs.
type child struct {
	pid int
	// ended gets the exit code, or 128 + the number of the signal that ended the command.
	ended <-chan int
}

func run(command []string, grace time.Duration, pidFile, server string) (int, error) {
	// The kernel sends the parent-death signal when the thread that started the command ends.
	runtime.LockOSThread()

	// Registered before the start: a signal in between must not end tether without the command.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	parentGone := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(parentGone)
	}()

	var started *child
	if server != "" {
		// The server may still be starting. When tether ends before the answer, the server does not run the
		// command.
		answer := make(chan *child, 1)
		go func() {
			command, _ := forked(server, command)
			answer <- command
		}()
		select {
		case started = <-answer:
		case <-parentGone:
			return 128 + int(syscall.SIGTERM), nil
		case received := <-signals:
			return 128 + int(received.(syscall.Signal)), nil
		}
	}
	if started == nil {
		var err error
		if started, err = executed(command); err != nil {
			return 0, err
		}
	}
	group := -started.pid

	if pidFile != "" {
		if err := writeAtomically(pidFile, strconv.Itoa(started.pid)); err != nil {
			err = errors.Join(err, syscall.Kill(group, syscall.SIGKILL))
			<-started.ended
			return 0, err
		}
	}

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
		case code := <-started.ended:
			// Kills processes that the command left in its group.
			_ = syscall.Kill(group, syscall.SIGKILL)
			return code, nil
		}
	}
}

// executed starts the command as a child process.
func executed(command []string) (*child, error) {
	process := exec.Command(command[0], command[1:]...)
	process.Stdout, process.Stderr = os.Stdout, os.Stderr
	process.SysProcAttr = ownGroup()
	if err := process.Start(); err != nil {
		return nil, err
	}
	ended := make(chan int, 1)
	go func() {
		_ = process.Wait() // the error only says that the exit code is not 0: see exitCode
		ended <- exitCode(process.ProcessState)
	}()
	return &child{process.Process.Pid, ended}, nil
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
