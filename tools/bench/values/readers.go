package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"quarry/internal/value"
)

// readers are other programs that read configuration files and answer with JSON.
type readers struct {
	node, python, jq *reader
	dir              string
}

// reader is one of these programs. It is sent one text per line.
type reader struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// goneError reports that a reader has ended. It must not be taken for a verdict about a text: a run
// that did so skipped 282 files.
type goneError struct{ err error }

func (e *goneError) Error() string { return "a reader has ended: " + e.err.Error() }

// nodeScript reads {"format", "text"} and prints {"value"} or {"error"}. Values that JSON doesn't
// have, such as dates, become texts that name them.
const nodeScript = `
const { createRequire } = require('module');
const need = createRequire(process.argv[2] + '/');
const yaml = need('yaml'), toml = need('smol-toml'), jsonc = need('jsonc-parser');
function plain(v) {
  if (typeof v === 'bigint') return 'int ' + v;
  if (typeof v === 'number' && !Number.isFinite(v)) return 'float ' + v;
  if (v instanceof Date) return 'date ' + (v.toISOString ? v.toISOString() : String(v));
  if (v instanceof Map) { const o = {}; for (const [k, x] of v) o[k !== null && typeof k === 'object' ? 'key ' + JSON.stringify(plain(k)) : String(k)] = plain(x); return o; }
  if (Array.isArray(v)) return v.map(plain);
  if (v instanceof Set) return { set: [...v].map(plain) };
  if (v && typeof v === 'object') { const o = {}; for (const k of Object.keys(v)) Object.defineProperty(o, k, { value: plain(v[k]), enumerable: true }); return o; }
  return v === undefined ? null : v;
}
function read(format, text) {
  if (text.charCodeAt(0) === 0xFEFF) text = text.slice(1);
  if (format === 'TOML') return toml.parse(text, { integersAsBigInt: true });
  if (format === 'JSON') { const errors = []; const v = jsonc.parse(text, errors, { allowTrailingComma: true }); if (errors.length) throw new Error(JSON.stringify(errors)); return v; }
  if (format === 'YAML header') {
    const m = /^---[ \t]*\r?\n([\s\S]*?)^(?:---|\.\.\.)[ \t]*$/m.exec(text);
    if (!m || m.index !== 0) return null;
    text = m[1];
  }
  const docs = yaml.parseAllDocuments(text, { uniqueKeys: false, logLevel: 'silent', stringKeys: false, intAsBigInt: true });
  if (!Array.isArray(docs) || docs.length === 0) return null;
  const out = docs.map(d => { if (d.errors.length) throw d.errors[0]; return d.toJS({ mapAsMap: true, maxAliasCount: -1 }); });
  return out.length === 1 ? out[0] : out;
}
require('readline').createInterface({ input: process.stdin }).on('line', line => {
  const { format, text } = JSON.parse(line);
  let answer;
  try { answer = { value: plain(read(format, text)) }; } catch (e) { answer = { error: String(e.message || e) }; }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
`

// pythonScript is the second reader. It uses PyYAML, which has YAML 1.1's scalars, tomllib, json
// and configparser. Keys stay as they are written.
const pythonScript = `
import sys, json, re, datetime, configparser, tomllib, yaml
class Loader(yaml.SafeLoader): pass
def key(loader, n):
    if isinstance(n, yaml.ScalarNode): return n.value
    return 'key ' + json.dumps(plain(loader.construct_object(n, deep=True)))
Loader.add_constructor('tag:yaml.org,2002:map', lambda l, n: {key(l, k): l.construct_object(v, deep=True) for k, v in n.value})
def other(l, suffix, n):
    if isinstance(n, yaml.ScalarNode): return ['tag', suffix, n.value]
    if isinstance(n, yaml.SequenceNode): return l.construct_sequence(n, deep=True)
    return {key(l, k): l.construct_object(v, deep=True) for k, v in n.value}
Loader.add_multi_constructor('', other)
def plain(v):
    if isinstance(v, bool) or v is None or isinstance(v, str): return v
    if isinstance(v, int): return 'int %d' % v
    if isinstance(v, float): return 'float %r' % v
    if isinstance(v, dict): return {str(k): plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple, set)): return [plain(x) for x in v]
    if isinstance(v, bytes): return 'bytes ' + v.hex()
    return 'date %s' % v
def read(format, text):
    if text.startswith('\ufeff'): text = text[1:]
    if format == 'TOML': return tomllib.loads(text)
    if format == 'JSON': return json.loads(text)
    if format == 'ini':
        p = configparser.RawConfigParser(strict=False, allow_no_value=True, default_section='\x02')
        p.optionxform = str
        p.read_string('[\x01]\n' + text)
        out = dict(p['\x01'])
        for s in p.sections():
            if s != '\x01': out[s] = dict(p[s])
        return out
    if format == 'YAML header':
        m = re.match(r'---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$', text, re.S | re.M)
        if not m: return None
        text = m.group(1)
    docs = list(yaml.load_all(text, Loader))
    return docs[0] if len(docs) == 1 else docs or None
for line in sys.stdin:
    q = json.loads(line)
    try: print(json.dumps({'value': plain(read(q['format'], q['text']))}), flush=True)
    except Exception as e: print(json.dumps({'error': str(e)}), flush=True)
`

// One process serves all texts, because starting one for each would take longer than everything
// else.
const jqScript = `try {value: (.text | fromjson)} catch {error: .}`

func startReaders(npm string) (*readers, error) {
	for _, name := range []string{"node", "python3", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("%s is not installed", name)
		}
	}
	for _, name := range []string{"yaml", "smol-toml", "jsonc-parser"} {
		if _, err := os.Stat(filepath.Join(npm, name)); err != nil {
			return nil, fmt.Errorf("npm's %s is not in %q: make values-install installs it", name, npm)
		}
	}
	dir, err := os.MkdirTemp("", "quarry-values")
	if err != nil {
		return nil, err
	}
	script := filepath.Join(dir, "read.cjs")
	if err := os.WriteFile(script, []byte(nodeScript), 0o600); err != nil {
		return nil, err
	}
	npm, err = filepath.Abs(npm)
	if err != nil {
		return nil, err
	}
	r := &readers{dir: dir}
	if r.node, err = startReader("node", script, npm); err != nil {
		return nil, err
	}
	if r.python, err = startReader("python3", "-c", pythonScript); err != nil {
		return nil, err
	}
	if _, err := r.second(value.YAML, []byte("a: no\n")); err != nil {
		r.close()
		return nil, fmt.Errorf("python3 needs PyYAML: %w", err)
	}
	r.jq, err = startReader("jq", "-c", "--unbuffered", jqScript)
	return r, err
}

func startReader(name string, args ...string) (*reader, error) {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &reader{cmd, in, bufio.NewReaderSize(out, 1<<20)}, cmd.Start()
}

func (r *readers) close() {
	for _, one := range []*reader{r.node, r.python, r.jq} {
		if one == nil {
			continue
		}
		one.in.Close()
		_ = one.cmd.Wait() // it ends at the end of its input
	}
	os.RemoveAll(r.dir)
}

// second sends a text to the second reader for its format. For YAML, that is the one with YAML
// 1.1's scalars.
func (r *readers) second(format value.Format, text []byte) (any, error) {
	line, err := json.Marshal(map[string]string{"format": format.String(), "text": string(text)})
	if err != nil {
		return nil, err
	}
	return r.python.ask(line)
}

// read sends a text to the first reader for its format. The answer has numbers as they are written.
func (r *readers) read(format value.Format, text []byte) (any, error) {
	line, err := json.Marshal(map[string]string{"format": format.String(), "text": string(text)})
	if err != nil {
		return nil, err
	}
	switch format {
	case value.JSON: // the reader from npm accepts comments
		if v, err := r.jq.ask(line); err == nil || isGone(err) {
			return v, err
		}
	case value.INI:
		return r.python.ask(line)
	}
	return r.node.ask(line)
}

func isGone(err error) bool {
	_, gone := errors.AsType[*goneError](err)
	return gone
}

// ask sends a reader a text on a line and returns its answer.
func (r *reader) ask(line []byte) (any, error) {
	if _, err := r.in.Write(append(line[:len(line):len(line)], '\n')); err != nil {
		return nil, &goneError{err}
	}
	out, err := r.out.ReadBytes('\n')
	if err != nil {
		return nil, &goneError{err}
	}
	answer, err := decode(out)
	if err != nil {
		return nil, err
	}
	m := answer.(map[string]any)
	if problem, bad := m["error"]; bad {
		return nil, errors.New(fmt.Sprint(problem))
	}
	return m["value"], nil
}

func decode(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}
