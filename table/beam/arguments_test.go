package setio_test

import (
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	setio "github.com/sievetable/sievetable/table/beam"
)

// Invalid arguments are errors before anything runs.
func TestWriteRefusesArguments(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	files := beam.Create(s, "a")
	type writer = func(beam.Scope, string, beam.PCollection, setio.Options) (beam.PCollection, error)
	for name, test := range map[string]struct {
		write writer
		s     beam.Scope
		dir   string
		col   beam.PCollection
		o     setio.Options
		want  string
	}{
		"no entries":      {setio.WriteLines, s, "/set", files, setio.Options{EntriesPerTable: -1}, "EntriesPerTable is -1: use 1 to 100000000"},
		"many entries":    {setio.WriteKeys, s, "/set", files, setio.Options{EntriesPerTable: 1e9}, "EntriesPerTable is 1000000000"},
		"short runs":      {setio.WriteLines, s, "/set", files, setio.Options{RunSize: 1}, "RunSize is 1: use 4096 to 1073741824"},
		"not registered":  {setio.WriteLines, s, "/set", files, setio.Options{Writer: "unknown"}, `Writer is "unknown"`},
		"writer's option": {setio.WriteLines, s, "/set", files, setio.Options{Writer: "bad"}, "BlockSize is -1"},
		"no directory":    {setio.WriteKeys, s, "", files, setio.Options{}, "absolute path"},
		"no file system":  {setio.WriteKeys, s, "nofs://set", files, setio.Options{}, `scheme "nofs" not registered`},
		"import it":       {setio.WriteKeys, s, "s3://set", files, setio.Options{}, "beam/io/filesystem/s3"},
		"no bucket":       {setio.WriteKeys, s, "memfs:///", files, setio.Options{}, "name a bucket or a directory"},
		"a pattern":       {setio.WriteKeys, s, "memfs://a*", files, setio.Options{}, "use a name without * ?"},
		"a fragment":      {setio.WriteKeys, s, "memfs://a/b#c", files, setio.Options{}, "use a name without # %"},
		"an escape":       {setio.WriteKeys, s, "memfs://a%2Ab", files, setio.Options{}, "use a name without # %"},
		"no scope":        {setio.WriteLines, beam.Scope{}, "/set", files, setio.Options{}, "zero value"},
		"no files":        {setio.WriteLines, s, "/set", beam.PCollection{}, setio.Options{}, "zero value"},
		"no keys":         {setio.WriteKeys, s, "/set", beam.PCollection{}, setio.Options{}, "zero value"},
		"no pairs":        {setio.Write, s, "/set", beam.PCollection{}, setio.Options{}, "zero value"},
		"files as bytes":  {setio.WriteLines, s, "/set", beam.Create(s, []byte("a")), setio.Options{}, "has type []uint8 instead of string: use WriteKeys for keys"},
		"numbers as keys": {setio.WriteKeys, s, "/set", beam.Create(s, 1), setio.Options{}, "has type int instead of []byte or string"},
		"pairs as keys":   {setio.WriteKeys, s, "/set", pairs(s, "a", "b"), setio.Options{}, "has type KV<string,string> instead of []byte or string: use Write for"},
		"keys as pairs":   {setio.Write, s, "/set", files, setio.Options{}, "has type string instead of KV<K,V> with K and V []byte or string: use WriteKeys for keys without values, WriteLines"},
		"number as value": {setio.Write, s, "/set", pairs(s, "a", 1), setio.Options{}, "has type KV<string,int> instead of KV<K,V>"},
		"groups":          {setio.Write, s, "/set", beam.GroupByKey(s, pairs(s, "a", "b")), setio.Options{}, "has type CoGBK<string,string> instead of KV<K,V>"},
		"no layer":        {setio.WriteKeys, s, "/set", files, setio.Options{Removals: files}, "Removals is set without Layer"},
		"removed numbers": {setio.WriteKeys, s, "/set", files, setio.Options{Layer: true, Removals: beam.Create(s, 1)}, "PCollection of Removals has type int"},
		"filters only":    {setio.WriteKeys, s, "/set", files, setio.Options{Layer: true, Removals: files, Writer: "filters only"}, "keys cannot be removed from a set that contains only filters"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := test.write(test.s, test.dir, test.col, test.o)
			if err == nil || !strings.HasPrefix(err.Error(), "setio: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one that starts with setio: and has %q", err, test.want)
			}
		})
	}
	if _, err := setio.WriteLines(s, "/set", files, setio.Options{EntriesPerTable: 1, RunSize: 4096, Writer: "12 bits"}); err != nil {
		t.Error(err)
	}
	if _, _, err := p.Build(); err != nil {
		t.Error(err)
	}
}

// pairs returns a PCollection of one pair.
func pairs[K, V any](s beam.Scope, k K, v V) beam.PCollection {
	return beam.ParDo(s, func([]byte) (K, V) { return k, v }, beam.Impulse(s))
}
