package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// request is the data that the fork server (sandbox/fork-server.py) needs to run a command as if it were
// started here. Standard output and standard error are sent with it.
type request struct {
	Command     []string `json:"command"`
	Environment []string `json:"environment"`
	Directory   string   `json:"directory"`
}

// forked asks the fork server at the abstract Unix address to run the command. After an error the command is
// not running. The server kills it when this process ends.
func forked(address string, command []string) (*child, error) {
	directory, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	message, err := json.Marshal(request{command, os.Environ(), directory})
	if err != nil {
		return nil, err
	}
	connection, err := connect(address)
	if err != nil {
		return nil, err
	}
	if err := send(connection, append(message, '\n')); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	answers := bufio.NewReader(connection)
	var pid int
	if _, err := fmt.Fscanf(answers, "pid %d\n", &pid); err != nil {
		return nil, errors.Join(err, connection.Close())
	}
	ended := make(chan int, 1)
	go func() {
		code := 128 + int(syscall.SIGKILL) // the server ended, and with it all that it ran
		_, _ = fmt.Fscanf(answers, "exit %d\n", &code)
		ended <- code
	}()
	return &child{pid, ended}, nil
}

func connect(address string) (*os.File, error) {
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(socket)
	if err := syscall.Connect(socket, &syscall.SockaddrUnix{Name: "@" + address}); err != nil {
		return nil, errors.Join(err, syscall.Close(socket))
	}
	return os.NewFile(uintptr(socket), address), nil
}

// send writes nothing after the end of the message. By then the server may have run the command and closed
// the connection, and the error would make tether run the command a second time.
func send(connection *os.File, message []byte) error {
	// The file descriptors are sent with the first bytes.
	files := syscall.UnixRights(int(os.Stdout.Fd()), int(os.Stderr.Fd()))
	for len(message) > 0 {
		sent, err := syscall.SendmsgN(int(connection.Fd()), message, files, nil, 0)
		if err != nil {
			return err
		}
		message, files = message[sent:], nil
	}
	return nil
}
