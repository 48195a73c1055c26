package cloud_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // for file://
	"gocloud.dev/blob/s3blob"     // for s3://

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3pin"
	"github.com/sievetable/sievetable/table/set"
)

// Build a set of two tables in a bucket and query it. For a bucket in S3, only the URL differs.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	bucket, err := blob.OpenBucket(ctx, "file:///"+strings.TrimPrefix(filepath.ToSlash(dir), "/")+"?no_tmp_dir=true&metadata=skip")
	check(err)
	defer bucket.Close()

	store := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{s3pin.Pin{}}}
	o := &set.BuilderOptions{Writer: &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, EntriesPerTable: 2}
	b, err := set.NewBuilder(ctx, store, o)
	check(err)
	capitals := map[string]string{"Cuba": "Havana", "Kenya": "Nairobi", "Norway": "Oslo", "Peru": "Lima"}
	for _, country := range slices.Sorted(maps.Keys(capitals)) {
		check(b.Append([]byte(country), []byte(capitals[country])))
	}
	_, err = b.Commit()
	check(err)

	m, err := set.LoadManifest(ctx, store, set.ManifestName)
	check(err)
	s, err := set.Open(ctx, m, store, nil)
	check(err)
	defer s.Close()
	capital, err := s.Get(ctx, []byte("Peru"))
	fmt.Printf("%s, %v\n", capital, err)
	_, err = s.Get(ctx, []byte("Atlantis"))
	fmt.Println(err)
	// Output:
	// Lima, <nil>
	// table: key not found
}

// Keep 256 idle connections, for as many parallel lookups. By default, the SDK keeps 10, and opens a new connection
// for each further lookup.
func ExampleStore() {
	ctx := context.Background()
	cfg, err := config.LoadDefaultConfig(ctx)
	check(err)
	cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) { t.MaxIdleConnsPerHost = 256 })
	bucket, err := s3blob.OpenBucket(ctx, s3.NewFromConfig(cfg), "tables", nil)
	check(err)
	defer bucket.Close()

	store := &cloud.Store{Bucket: bucket, Pins: []cloud.Pin{s3pin.Pin{}}}
	m, err := set.LoadManifest(ctx, store, set.ManifestName)
	check(err)
	s, err := set.Open(ctx, m, store, nil)
	check(err)
	defer s.Close()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
