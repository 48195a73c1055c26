// Package command has the commands of sstcloud. Each is in the files that begin with its name. The work
// is done by other packages: store opens URLs, upload sends a set, and sweep deletes what no set has.
package command

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
)

// Run executes the command line and returns the exit status.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	out := bufio.NewWriterSize(stdout, 64<<10)
	root := newCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if flushed := out.Flush(); err == nil || errors.Is(err, errNegative) && flushed != nil {
		err = flushed
	}
	if i := new(interruptError); errors.As(context.Cause(ctx), &i) && err != nil {
		text.Line(stderr, "sstcloud: %v", i)
		return 128 + int(i.signal)
	}
	if err != nil && !errors.Is(err, errNegative) {
		printError(stderr, cmd, err)
	}
	return exitStatusOf(err)
}

// flush prints what the buffer of standard output has, for lines that come while a command works. An
// error comes again at the end.
func flush(out io.Writer) {
	if b, ok := out.(*bufio.Writer); ok {
		b.Flush()
	}
}

// An interruptError is the cause of the end of a context by a signal.
type interruptError struct{ signal syscall.Signal }

func (*interruptError) Error() string { return "interrupted" }

// interruptible returns a context that ends at a signal that asks the process to end. A second signal
// ends it at once.
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if s, ok := (<-signals).(syscall.Signal); ok {
			signal.Stop(signals)
			cancel(&interruptError{s})
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
	}
}

const rootLong = `Keep sets of tables in object storage: send the set of a directory there, look keys up, check it, and
delete tables that no set has any more. sst build makes sets.

URL says where a set is:

  s3://BUCKET?region=REGION                Amazon S3
  s3://BUCKET?region=us-east-1&endpoint=https://HOST&use_path_style=true
                                           a store like S3
  gs://BUCKET                              Google Cloud Storage
  file:///DIRECTORY                        a directory, which exists

With &prefix=urls/2026-11/ the set is below that prefix in the bucket, which can have many. Credentials
come from where the SDKs look for them, such as AWS_ACCESS_KEY_ID, ~/.aws and the role of the machine,
or Google's application default credentials. Other parameters are those of gocloud.dev/blob. Write URLs
in quotes, because of the &.

A table is an object of the name of its SHA-256, and set.jsonl is the manifest that lists the tables. A
program reads such a set by package table/cloud.

Keys and values are text with the escapes of Go strings, as in sst.`

// newCommand returns sstcloud with all commands.
func newCommand() *cobra.Command {
	root := &cobra.Command{
		Use:         "sstcloud COMMAND",
		Short:       "Keep sets of tables in object storage",
		Long:        rootLong,
		Version:     version(),
		Annotations: exitMeanings.annotation(),
		RunE:        func(root *cobra.Command, _ []string) error { return root.Help() },
		Args:        cobra.NoArgs,
	}
	setUp(root)
	root.AddCommand(putCommand(), getCommand(), scanCommand(), verifyCommand(), statsCommand(), sweepCommand())
	for _, cmd := range root.Commands() {
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

// version returns the version of the module or, in a clone, also the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return info.Main.Version + " " + s.Value
		}
	}
	return info.Main.Version
}
