// Package store opens URLs of S3 buckets, Google Cloud Storage buckets and directories.
package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/gcspin"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// A Store is a directory or a bucket, or the part of one below a prefix.
type Store struct {
	set.Store
	Bucket *cloud.Store // nil for a directory
	Dir    string       // "" for a bucket

	name     string        // the URL without parameters, with a trailing slash
	requests *atomic.Int64 // nil if requests are not counted
}

// Timeout limits each read, including the SDK's retries: of a manifest, a page of a list, an object's attributes, or
// a part of a table. Without it, a stalled store would block a command indefinitely.
var Timeout = 2 * time.Minute

// Open opens a URL. It accepts the parameter prefix and, for a bucket, those of gocloud.dev/blob.
func Open(ctx context.Context, rawURL string) (*Store, error) { return openFor(ctx, rawURL, "") }

// openFor is like Open, for reading that file. If file is "", any file may be read.
func openFor(ctx context.Context, rawURL, file string) (*Store, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		err = errors.Unwrap(err) // a url.Error repeats the URL
		return nil, cli.UsageErrorf("%s is not a URL: %w", format.Quote([]byte(rawURL)), err)
	}
	if !slices.Contains(schemes, u.Scheme) || u.Opaque != "" {
		return nil, cli.UsageErrorf("%s is not a supported URL: use s3://BUCKET, gs://BUCKET or file:///DIRECTORY", format.Quote([]byte(rawURL)))
	}
	if err := checkWhole(u, rawURL); err != nil {
		return nil, err
	}
	prefix, err := takePrefix(u, file)
	if err != nil {
		return nil, err
	}
	s := &Store{name: nameOf(u, prefix)}
	if u.Scheme == "file" {
		err = s.openDir(u, prefix)
	} else {
		err = s.openBucket(ctx, u, prefix)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return s, nil
}

// schemes lists the supported URL schemes.
var schemes = []string{"s3", "gs", "file"}

// pins contains the Pins of all drivers that have one.
var pins = []cloud.Pin{s3pin.Pin{}, gcspin.Pin{}}

// openBucket opens a bucket whose requests are counted.
func (s *Store) openBucket(ctx context.Context, u *url.URL, prefix string) (err error) {
	var bucket *blob.Bucket
	if u.Scheme == "s3" {
		bucket, err = openS3(ctx, u, s)
	} else {
		bucket, err = openGCS(ctx, u, s)
	}
	if err != nil {
		return err
	}
	if prefix != "" {
		bucket = blob.PrefixedBucket(bucket, prefix)
	}
	s.Bucket = &cloud.Store{Bucket: bucket, Pins: pins, URL: s.name, Timeout: Timeout}
	s.Store = s.Bucket
	return nil
}

// Close closes the connections of a bucket.
func (s *Store) Close() error {
	if s.Bucket == nil {
		return nil
	}
	return s.Bucket.Bucket.Close()
}
