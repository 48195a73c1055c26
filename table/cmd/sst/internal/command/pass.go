package command

import (
	"errors"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A pass goes over the parts of a command's arguments, one after another, and prints what it finds about each.
type pass struct {
	out, stderr io.Writer
	flags       *sourceFlags
	options     source.Options
	asJSON      bool
	printed     bool    // a part was printed
	failed      []error // what is wrong with the parts so far
}

// newPass returns a pass with the options of the flags.
func (f *sourceFlags) newPass(cmd *cobra.Command, asJSON bool) (*pass, error) {
	o, err := f.options()
	return &pass{out: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), flags: f, options: o, asJSON: asJSON}, err
}

// stopped reports whether the pass is at its end because of an error: with --strict, the first one.
func (p *pass) stopped() bool { return p.options.Strict && len(p.failed) > 0 }

// fail adds errors of a part. nil is none.
func (p *pass) fail(errs ...error) {
	for _, err := range errs {
		if err != nil {
			p.failed = append(p.failed, err)
		}
	}
}

// each calls do for each part, and returns all errors of the pass.
func each[T any](p *pass, parts []T, do func(T) error) error {
	for i := 0; i < len(parts) && !p.stopped(); i++ {
		p.fail(do(parts[i]))
	}
	return errors.Join(p.failed...)
}

// eachFile is each for files. If a database removes one meanwhile, that is a note, not an error.
func (p *pass) eachFile(files []target, do func(target) error) error {
	return each(p, files, func(t target) error {
		err := do(t)
		if !t.wasRemoved(err, p.options) {
			return err
		}
		p.note(t.Path + " was removed before it was read, because its database is in use")
		return nil
	})
}

// note prints notes.
func (p *pass) note(notes ...string) {
	for _, note := range notes {
		text.Note(p.stderr, "%s", note)
	}
}

// noteAbout prints a note about a file, unless the note is empty.
func (p *pass) noteAbout(path, note string) {
	if note != "" {
		p.note(path + ": " + note)
	}
}

// print prints a part as JSON, or as rows of columns, with an empty line after those of the part before.
func (p *pass) print(v any, rows func(w io.Writer)) error {
	if p.asJSON {
		return printable.WriteJSON(p.out, v)
	}
	if p.printed {
		io.WriteString(p.out, "\n") // out remembers its error
	}
	p.printed = true
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	rows(w)
	return w.Flush()
}
