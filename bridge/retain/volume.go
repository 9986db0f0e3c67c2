package retain

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// An archive is a directory tree of volumes: <day>/<time>-<why>-<random>.jsonl.gz,
// each with its checksum in a file of the same name and ".sha256" behind it, so
// that sha256sum -c checks it. Names sort by time.
const (
	volumeEnd = ".jsonl.gz"
	sumEnd    = ".sha256"
	unsealed  = ".part"
)

// volume is a file of the archive while it is written.
type volume struct {
	name string
	file *os.File
	sum  hash.Hash
	zip  *gzip.Writer
	out  *json.Encoder
}

func createVolume(dir, why string, at time.Time, intn func(int64) int64) (*volume, error) {
	at = at.UTC()
	dir = filepath.Join(dir, at.Format(time.DateOnly))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%s-%08x%s", at.Format("20060102T150405.000Z"), why, intn(1<<32), volumeEnd)
	v := &volume{name: filepath.Join(dir, name), sum: sha256.New()}
	var err error
	if v.file, err = os.OpenFile(v.name+unsealed, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	v.zip = gzip.NewWriter(io.MultiWriter(v.file, v.sum))
	v.out = json.NewEncoder(v.zip)
	v.out.SetEscapeHTML(false)
	return v, nil
}

func (v *volume) add(l Line) error { return v.out.Encode(l) }

// abandon gives the file up.
func (v *volume) abandon() {
	_ = v.file.Close() // nothing in it is needed
	_ = os.Remove(v.name + unsealed)
}

// seal makes the volume durable: only after that may its rows be deleted.
func (v *volume) seal() error {
	err := v.zip.Close()
	if err == nil {
		err = v.file.Sync()
	}
	if err := errors.Join(err, v.file.Close()); err != nil {
		return err
	}
	line := hex.EncodeToString(v.sum.Sum(nil)) + "  " + filepath.Base(v.name) + "\n"
	if err := writeDurably(v.name+sumEnd, line); err != nil {
		return err
	}
	if err := os.Rename(v.name+unsealed, v.name); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(v.name)), syncDir(filepath.Dir(filepath.Dir(v.name))))
}

func writeDurably(name, text string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// volumes lists the volumes at a path, a file or a directory, the oldest first.
func volumes(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var found []string
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, volumeEnd) {
			found = append(found, name)
		}
		return err
	})
	slices.SortFunc(found, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return found, err
}

// ErrDamaged says that a volume is not what was written.
var ErrDamaged = errors.New("the archive file is damaged: its checksum differs")

// check compares a volume with its checksum.
func check(name string) error {
	text, err := os.ReadFile(name + sumEnd)
	if err != nil {
		return fmt.Errorf("the checksum of an archive file is missing: %w", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	want, _, _ := strings.Cut(string(text), " ")
	if want != hex.EncodeToString(sum.Sum(nil)) {
		return fmt.Errorf("%w: %s", ErrDamaged, name)
	}
	return nil
}

// lines hands the lines of a volume to fn, in order.
func lines(name string, fn func(n int, l Line) error) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	d := json.NewDecoder(z)
	d.UseNumber()
	for n := 0; ; n++ {
		var l Line
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: line %d: %w", name, n+1, err)
		}
		if err := fn(n, l); err != nil {
			return err
		}
	}
}
