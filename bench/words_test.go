package bench

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// retired matches phrases that pages, exported docs, help texts and errors no longer use. CONTRIBUTING.md lists
// their replacements.
var retired = regexp.MustCompile(`(?m)` + strings.ReplaceAll(strings.Join([]string{
	`\b(is|are|be|been|being|was|were) asked\b`,
	`\bto ask (a|the|its|each|all|them|it)\b`,
	`\banswers? for\b`,
	`\b(no|without an) answer\b`,
	`\bis no error\b`,
	`\bwhat is behind\b`,
	`\bcosts? (nothing|no [a-z]+)\b`,
	`\bnot (fewer|more|less) than\b`,
	`\bhides? no\b`,
	`\bbut for\b`,
	`\b(files?|tables?|databases?|filters?|logs?) of (LevelDB|goleveldb|Pebble|RocksDB|C\+\+|Chrome|Minecraft)`,
	`\brescue`,
	`\b(black|white)list`,
	`\bthere already\b`,
	`\bmade (of|for)\b`,
	`\bden(y|ies|ied)\b`,
	`\b(is|are) told\b`,
	`\btells? (what|whether|if|how|which|apart)\b`,
	`\bfor ever\b`,
	`(^|[.:] )Of an? [A-Za-z]`,
	`\bso many\b`,
	`\bfilters? errs?\b`,
	`[,:;] want `,
	`\bwants an? `,
	`\b(that|those) of\b`,
	`\bthose (which|that|who)\b`,
	`\bby what\b|\bof what\b|\bis what\b`,
}, "|"), " ", `\s+`)) // also where a line ends between words

// allowed matches uses of these phrases in another sense.
var allowed = regexp.MustCompile(`permission denied|access denied|AccessDenied|is asked, denies, answers for|"rescue"`)

// Pages, exported docs and string literals, such as help texts and errors, use no retired phrases.
func TestRetiredPhrases(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	files := token.NewFileSet()
	check := func(path string, line int, text string) {
		for _, m := range retired.FindAllStringIndex(allowed.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s:%d: retired phrase %q", path, line+strings.Count(text[:m[0]], "\n"), text[m[0]:m[1]])
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			check(path, 1, page(t, path))
		case filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go") && !forTests.MatchString(filepath.ToSlash(path)):
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			at := func(n ast.Node) int { return files.Position(n.Pos()).Line }
			for _, doc := range exportedDocs(file, strings.Contains(filepath.ToSlash(path), "/internal/")) {
				check(path, at(doc), doc.Text())
			}
			for _, s := range stringsOf(file) {
				check(path, at(s), s.Value)
			}
		}
		return nil
	})
	noError(t, err)
}

// forTests matches packages that only tests and measurements import.
var forTests = regexp.MustCompile(`^\.\./bench/|/internal/(exchange|page/pagetest|scripttest|rawtable|tabletest|filtertest|dbdamage|workload|golden|tour|long|figures|manifest)/`)

// exportedDocs returns the comments that go doc prints for a file. For an internal package, it returns none.
func exportedDocs(file *ast.File, internal bool) (docs []*ast.CommentGroup) {
	if internal {
		return nil
	}
	add := func(doc *ast.CommentGroup, names ...*ast.Ident) {
		exported := len(names) == 0
		for _, n := range names {
			exported = exported || n.IsExported()
		}
		if exported && doc != nil {
			docs = append(docs, doc)
		}
	}
	add(file.Doc)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Doc, n.Name)
			return false
		case *ast.GenDecl:
			add(n.Doc, namesOf(n)...)
		case *ast.TypeSpec:
			add(n.Doc, n.Name)
			return n.Name.IsExported()
		case *ast.ValueSpec:
			add(n.Doc, n.Names...)
		case *ast.Field:
			add(n.Doc, n.Names...)
		}
		return true
	})
	return docs
}

// namesOf returns the names that a declaration declares.
func namesOf(d *ast.GenDecl) (names []*ast.Ident) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name)
		case *ast.ValueSpec:
			names = append(names, spec.Names...)
		}
	}
	return names
}

// stringsOf returns the strings of a file, except the paths of its imports.
func stringsOf(file *ast.File) (all []*ast.BasicLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			all = append(all, lit)
		}
		_, isImport := n.(*ast.ImportSpec)
		return !isImport
	})
	return all
}
