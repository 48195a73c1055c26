package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A spending is what a process took.
type spending struct {
	cpu           time.Duration // of all threads
	read, written int64         // bytes of the disk
}

func spendingOf(u *syscall.Rusage) spending {
	const block = 512 // what the system counts in
	return spending{time.Duration(u.Utime.Nano() + u.Stime.Nano()), u.Inblock * block, u.Oublock * block}
}

// spent returns what this process has taken.
func spent() spending {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the kernel knows it
	}
	return spendingOf(&u)
}

// runProcess runs a command to its end, and returns what it took and printed.
func runProcess(cmd *exec.Cmd) (spending, []byte, error) {
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return spending{}, nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return spendingOf(cmd.ProcessState.SysUsage().(*syscall.Rusage)), out, nil
}
