package store

import (
	"net/url"
	"strings"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// checkWhole returns an error if a part of a URL would be ignored: the set would be elsewhere than it says.
func checkWhole(u *url.URL, rawURL string) error {
	name := u.Redacted()
	if strings.Contains(rawURL, "#") {
		return cli.UsageErrorf("%s: what follows # is no part of the name, want %%23 for a # in it", name)
	}
	if u.Scheme == "file" && (u.Host != "." && u.Path == "" || u.Host != "." && u.Host != "") {
		return cli.UsageErrorf("%s: no path of a directory, want file:///DIRECTORY with three slashes, "+
			"or file://./DIRECTORY below this one", name)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return cli.UsageErrorf("%s: %v: want parameters with & in between, %%3B for a ; and %%25 for a %%", name, err)
	}
	for parameter, values := range q {
		if len(values) > 1 {
			return cli.UsageErrorf("%s: %s is given %d times, want it once", name, parameter, len(values))
		}
	}
	return nil
}

// takePrefix removes the prefix of the objects from the parameters, and returns it. A path, which
// gocloud.dev ignores, is an error: the set would be elsewhere than it says.
func takePrefix(u *url.URL) (string, error) {
	q := u.Query()
	prefix := q.Get("prefix")
	path := strings.Trim(u.Path, "/")
	switch {
	case u.Scheme != "file" && u.Host == "":
		return "", cli.UsageErrorf("%s: no bucket, want %s://BUCKET", u.Redacted(), u.Scheme)
	case u.Scheme != "file" && path != "":
		return "", cli.UsageErrorf("%s: a bucket has no path: for objects below a prefix, want %s://%s?prefix=%s/",
			u.Redacted(), u.Scheme, u.Host, path)
	case prefix != "" && !strings.HasSuffix(prefix, "/"):
		return "", cli.UsageErrorf("%s: the prefix has no / at its end, want prefix=%s/", u.Redacted(), prefix)
	case strings.HasPrefix(prefix, "/"):
		return "", cli.UsageErrorf("%s: the prefix begins with /, want prefix=%s", u.Redacted(), strings.TrimLeft(prefix, "/"))
	}
	if q.Del("prefix"); u.Scheme == "file" && len(q) > 0 {
		return "", cli.UsageErrorf("%s: a directory has no parameters but prefix", u.Redacted())
	}
	u.RawQuery = q.Encode()
	return prefix, nil
}

// nameOf returns a URL with the prefix and without parameters, with / at its end.
func nameOf(u *url.URL, prefix string) string {
	return u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/") + "/" + prefix
}
