package main

import (
	"bufio"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// judges runs the languages' own parsers. Each is a script that reads file names and answers each
// with "ok" or "bad".
type judges struct {
	npm     string
	running map[string]*judge
	dir     string
}

type judge struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// scripts maps a language to a command and its script.
var scripts = map[string]struct {
	command []string
	file    string
	script  string
}{
	"Python": {[]string{"python3", "-W", "ignore"}, "judge.py", `
import ast, sys
for f in sys.stdin:
    try: ast.parse(open(f.strip(), 'rb').read()); print('ok', flush=True)
    except Exception: print('bad', flush=True)
`},
	"PHP": {[]string{"php", "-d", "error_reporting=0", "-d", "short_open_tag=0", "-d", "memory_limit=1G"}, "judge.php", `<?php
while (($f = fgets(STDIN)) !== false) {
  try { token_get_all(file_get_contents(trim($f)), TOKEN_PARSE); echo "ok\n"; } catch (Throwable $e) { echo "bad\n"; }
}
`},
	"Ruby": {[]string{"ruby", "-W0"}, "judge.rb", `
STDOUT.sync = true
while f = $stdin.gets # not from the files in ARGV
  begin
    RubyVM::AbstractSyntaxTree.parse(File.read(f.chomp, encoding: 'UTF-8')); puts 'ok'
  rescue Exception
    puts 'bad'
  end
end
`},
	"Lua": {[]string{"lua5.4"}, "judge.lua", `
io.stdout:setvbuf('line')
for f in io.lines() do print(loadfile(f, 't') and 'ok' or 'bad') end
`},
	"JavaScript": {[]string{"node", "--no-warnings", "--experimental-vm-modules"}, "judge.js", nodeJudge},
	"TypeScript": {[]string{"node", "--no-warnings", "--experimental-vm-modules"}, "judge.js", nodeJudge},
	"YAML":       {[]string{"node"}, "judge.js", nodeJudge},
	"TOML":       {[]string{"node"}, "judge.js", nodeJudge},
	"JSON":       {[]string{"node"}, "judge.js", nodeJudge},
	"Java": {[]string{"java"}, "Judge.java", `
import com.sun.source.util.*;
import java.io.*; import java.util.*; import javax.tools.*;
public class Judge {
  public static void main(String[] a) throws Exception {
    JavaCompiler c = ToolProvider.getSystemJavaCompiler();
    StandardJavaFileManager m = c.getStandardFileManager(null, null, null);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String f; (f = in.readLine()) != null; ) {
      DiagnosticCollector<JavaFileObject> d = new DiagnosticCollector<>();
      JavacTask t = (JavacTask) c.getTask(null, m, d, null, null, m.getJavaFileObjects(f));
      for (Object u : t.parse()) {}
      boolean bad = false;
      for (Diagnostic<?> x : d.getDiagnostics()) bad |= x.getKind() == Diagnostic.Kind.ERROR;
      System.out.println(bad ? "bad" : "ok"); System.out.flush();
    }
  }
}
`},
	"Rust": {[]string{"sh"}, "judge.sh", `
while read -r f; do
  if RUSTC_BOOTSTRAP=1 rustc --edition 2021 -Zparse-crate-root-only "$f" >/dev/null 2>&1; then echo ok; else echo bad; fi
done
`},
}

const nodeJudge = `
const fs = require('fs'), vm = require('vm'), path = require('path');
const from = n => { try { return require(path.join(process.argv[2], n)); } catch { return null; } };
const ts = from('typescript'), yaml = from('yaml'), toml = from('smol-toml');
const script = t => { new vm.Script(t); };
const module_ = t => { new vm.SourceTextModule(t); };
const typed = (f, t) => {
  const kind = { '.tsx': ts.ScriptKind.TSX, '.ts': ts.ScriptKind.TS, '.mts': ts.ScriptKind.TS, '.cts': ts.ScriptKind.TS }[path.extname(f)] || ts.ScriptKind.JSX;
  if (ts.createSourceFile(f, t, ts.ScriptTarget.Latest, false, kind).parseDiagnostics.length) throw 1;
};
const some = (...tries) => { for (const t of tries) try { t(); return true; } catch {} return false; };
function ok(f) {
  const t = fs.readFileSync(f, 'utf8').replace(/^\uFEFF/, '');
  switch (path.extname(f)) {
  case '.yaml': case '.yml': return yaml.parseAllDocuments(t, { logLevel: 'silent', uniqueKeys: false }).every(d => d.errors.length == 0);
  case '.toml': return some(() => toml.parse(t));
  case '.ts': case '.tsx': case '.mts': case '.cts': return some(() => typed(f, t));
  case '.js': case '.mjs': case '.cjs': case '.jsx':
    return some(() => script('(async function(){' + t.replace(/^#!.*/, '') + '\n})'), () => script(t), () => module_(t), () => typed(f, t));
  }
  return some(() => JSON.parse(t), () => { if (ts.parseConfigFileTextToJson(f, t).error) throw 1; });
}
require('readline').createInterface({ input: process.stdin }).on('line', f => console.log(ok(f) ? 'ok' : 'bad'));
`

func (j *judges) mark(language string) string {
	if j.has(language) {
		return ""
	}
	return " -"
}

func (j *judges) has(language string) bool {
	if language == "Go" {
		return true
	}
	s, ok := scripts[language]
	if !ok {
		return false
	}
	_, err := exec.LookPath(s.command[0])
	return err == nil
}

// accepts reports whether the language's parser accepts a text. If there is no parser, it returns
// true.
func (j *judges) accepts(language, name string, text []byte) bool {
	if language == "Go" {
		_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
		return err == nil
	}
	if !j.has(language) {
		return true
	}
	if j.dir == "" {
		j.dir, _ = os.MkdirTemp("", "quarry-checks-")
	}
	file := filepath.Join(j.dir, "f"+filepath.Ext(name))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		panic(err)
	}
	for range 2 { // if the parser has died, start it again
		r, err := j.start(language)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(r.in, file)
		if line, err := r.out.ReadString('\n'); err == nil {
			return line == "ok\n"
		}
		delete(j.running, language)
	}
	return false
}

func (j *judges) start(language string) (*judge, error) {
	if r := j.running[language]; r != nil {
		return r, nil
	}
	s := scripts[language]
	file := filepath.Join(j.dir, s.file)
	if err := os.WriteFile(file, []byte(s.script), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(s.command[0], append(s.command[1:len(s.command):len(s.command)], file, j.npm)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if j.running == nil {
		j.running = map[string]*judge{}
	}
	j.running[language] = &judge{cmd, in, bufio.NewReader(out)}
	return j.running[language], cmd.Start()
}

func (j *judges) close() {
	for _, r := range j.running {
		r.in.Close()
		r.cmd.Wait()
	}
	os.RemoveAll(j.dir)
}
