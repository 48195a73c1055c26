package report

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"text/template"

	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

//go:embed readme.md.tmpl
var readmePart string

// measured is the part of README.md that is of a run.
var measured = regexp.MustCompile(`(?s)<!-- measured: [^\n]*-->\n.*?<!-- end of what was measured -->\n`)

// DrawReadme writes the part of a README that is of the directory's DataFile, between its two comments.
func DrawReadme(file, dir string) error {
	r, err := load(dir)
	if err != nil {
		return fmt.Errorf("reading what was measured: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := len(measured.FindAll(text, -1)); n != 1 {
		return fmt.Errorf("%s: %d parts between the comments \"measured\" and \"end of what was measured\", want one", file, n)
	}
	part, err := r.readme()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, measured.ReplaceAllLiteral(text, []byte(part)), 0o666)
}

// readme returns the part of README.md, with its comments.
func (r *Report) readme() (string, error) {
	chart := r.byEngine()
	reads, readsErr := r.Engines.ours(measure.Usual + "/" + measure.ReadsAbsent)
	all, allErr := r.Engines.ours(measure.NoFilter + "/" + measure.ReadsAbsent)
	times, timesErr := r.Engines.timesAsFast()
	if err := errors.Join(readsErr, allErr, timesErr); err != nil {
		return "", err
	}
	t, err := template.New("README.md").Parse(readmePart)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, map[string]any{
		"Bits": measure.UsualBits, "Reads": twoDigits(reads), "All": twoDigits(all), "Times": times,
		"Chart": chart.alt, "File": byEngineFile, "Narrow": narrow(byEngineFile), "Machine": r.processor(),
	})
	return out.String(), err
}

// ours returns our median in the row with that ID.
func (r *Results) ours(id string) (float64, error) {
	for _, row := range r.find(id) {
		if s, ok := figure(row, 0); ok {
			return s.mid, nil
		}
	}
	return 0, fmt.Errorf("no figures in the row %s", id)
}

// timesAsFast returns how many times as fast as the rival each of kinds is, by its ID without hyphens.
func (r *Results) timesAsFast() (map[string]string, error) {
	times := map[string]string{}
	for _, k := range kinds {
		all := r.rivals(r.find(measure.Usual+"/"+k.id), k.state)
		if len(all) != 1 {
			return nil, fmt.Errorf("no figures of %s in the row %s/%s", rival, measure.Usual, k.id)
		}
		times[strings.ReplaceAll(k.id, "-", "")] = timesOf(all[0])
	}
	return times, nil
}

// processor names it, with how many of its cores there were.
func (r *Report) processor() string {
	var name, cores string
	for _, line := range r.Machine {
		switch line[0] {
		case "CPU":
			name = line[1]
		case "cores":
			cores = line[1]
		}
	}
	return name + ", " + cores + " cores"
}
