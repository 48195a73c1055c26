package command

import (
	"fmt"
	"io"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A jsonAnswer is the answer of a filter, in JSON.
type jsonAnswer struct {
	Key        *string `json:"key,omitempty"`
	KeyBase64  []byte  `json:"key_base64,omitempty"`
	MayContain bool    `json:"may_contain"`
}

// askFilter returns a function that prints the answer of a table with a filter only: with
// several keys and in JSON the key too.
func (f *getFlags) askFilter(out io.Writer, several bool) (func(s *source.Source, key []byte) (bool, error), error) {
	encode := text.Escape
	switch f.format {
	case "raw":
		return nil, cli.UsageErrorf("--format is raw, want tsv, hex or json: the table has a filter only, and no values")
	case "hex":
		encode = func(key []byte) string { return fmt.Sprintf("%x", key) }
	}
	return func(s *source.Source, key []byte) (bool, error) {
		may, err := s.MayContain(key)
		if err != nil {
			return false, err
		}
		if f.format == "json" {
			a := jsonAnswer{MayContain: may}
			a.Key, a.KeyBase64 = text.StringOrBytes(key)
			line, err := text.AppendJSON(nil, a)
			if err == nil {
				_, err = out.Write(append(line, '\n'))
			}
			return may, err
		}
		answer := "absent"
		if may {
			answer = "may be present"
		}
		if several {
			answer = encode(key) + "\t" + answer
		}
		_, err = io.WriteString(out, answer+"\n")
		return may, err
	}, nil
}
