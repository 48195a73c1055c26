package store

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// checkWhole returns an error if a part of a URL would be ignored.
func checkWhole(u *url.URL, rawURL string) error {
	name := u.Redacted()
	if strings.Contains(rawURL, "#") {
		return cli.UsageErrorf("%s: unexpected #: write %%23 for a # in a name", name)
	}
	if u.Scheme == "file" && (u.Host != "." && u.Path == "" || u.Host != "." && u.Host != "") {
		return cli.UsageErrorf("%s: not the URL of a directory: use file:///DIRECTORY with three slashes, or file://./DIRECTORY for a relative path", name)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return cli.UsageErrorf("%s: %v: separate parameters with &, write %%3B for ; and %%25 for %%", name, err)
	}
	for parameter, values := range q {
		if len(values) > 1 {
			return cli.UsageErrorf("%s: %s is given %d times: give it once", name, parameter, len(values))
		}
	}
	return nil
}

// takePrefix removes the prefix from the parameters and returns it. A path, which gocloud.dev would ignore, is an
// error, which suggests a URL of the file.
func takePrefix(u *url.URL, file string) (string, error) {
	q := u.Query()
	prefix := q.Get("prefix")
	dir := strings.Trim(u.Path, "/")
	switch {
	case u.Scheme != "file" && u.Host == "":
		return "", cli.UsageErrorf("missing bucket: use %s://BUCKET", u.Scheme)
	case u.Scheme != "file" && dir != "":
		return "", cli.UsageErrorf("%s: a bucket has no path: use %s://%s?%s",
			u.Redacted(), u.Scheme, path.Join(u.Host, url.PathEscape(file)), withPrefix(q, dir+"/"+prefix))
	case prefix != "" && !strings.HasSuffix(prefix, "/"):
		return "", cli.UsageErrorf("%s: the prefix does not end with /: use ?%s", u.Redacted(), withPrefix(q, prefix))
	case strings.HasPrefix(prefix, "/"):
		return "", cli.UsageErrorf("%s: the prefix begins with /: use ?%s", u.Redacted(), withPrefix(q, prefix))
	case u.Scheme == "file" && prefix != "" && !filepath.IsLocal(prefix):
		return "", cli.UsageErrorf("%s: the prefix is outside the directory: name that directory in the URL", u.Redacted())
	}
	if q.Del("prefix"); u.Scheme == "file" && len(q) > 0 {
		return "", cli.UsageErrorf("%s: unknown parameter: a directory takes only prefix", u.Redacted())
	}
	u.RawQuery = q.Encode()
	return prefix, nil
}

// withPrefix returns the parameters, encoded, with this prefix as a valid one.
func withPrefix(q url.Values, prefix string) string {
	q.Set("prefix", strings.TrimLeft(strings.TrimRight(prefix, "/")+"/", "/"))
	return strings.ReplaceAll(q.Encode(), "%2F", "/")
}

// nameOf returns a URL with the prefix and a trailing slash, but without parameters.
func nameOf(u *url.URL, prefix string) string {
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/") + "/" + prefix
}
