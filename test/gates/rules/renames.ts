/** What a file gives a name far from where the change uses it. */
export type Rename = readonly [path: string, given: string, used: string];

const of = (path: string, rows: readonly (readonly [given: string, used: string])[]): readonly Rename[] =>
  rows.map(([given, used]) => [path, given, used]);

/** A name for direct execution of each kind, given where no line of the change tells of it. */
export const renames: readonly Rename[] = [
  ...of('a.js', [
    ["const { exec: run } = require('child_process');", 'run(line);'],
    ["const { exec: run } = require('shelljs');", 'run(line);'],
    ["const run = require('execa');", "run('sh', ['-c', line]);"],
    ['const run = eval;', 'run(line);'],
    ['const tools = { run: eval };', 'tools.run(line);'],
    ['run=eval;', 'run(line);'],
    ['const run = globalThis.eval;', 'run(line);'],
    ["const run = globalThis['eval'];", 'run(line);'],
    ['const run = globalThis["eval"];', 'run(line);'],
    ["const m = require('vm');", 'm.compileFunction(text);'],
    ["const { Script: S } = require('vm');", 'new S(text);'],
    ['const { Script: S } = require("vm");', 'new S(text);'],
    ["import { Script as S } from 'node:vm';", 'new S(text);'],
    ['const Make = Function;', 'new Make(text);'],
    ["const { VM } = require('vm2');", 'new VM().run(text);'],
    ["const box = require('isolated-vm');", 'const a = new box.Isolate(); a.compileScript(text);'],
    ["const code = 'data:text/javascript,' + text;", 'import(code);'],
  ]),
  ...of('a.py', [
    ['run = eval', 'run(line)'],
    ['run = exec', 'run(line)'],
    ['import os as o\nrun = o.system', 'run(line)'],
    ['from runpy import run_path as go', 'go(path)'],
    ['from os import popen as go', 'go(line)'],
    ['from subprocess import getoutput as go', 'go(line)'],
    ['from asyncio import create_subprocess_shell as go', 'await go(line)'],
    ['from timeit import Timer as go', 'go(line)'],
    ['from builtins import eval as go', 'go(line)'],
    ["import builtins as b\nrun = getattr(b, 'ev' 'al')", 'run(line)'],
    ['from cProfile import run as go', 'go(line)'],
    ['from trace import Trace; t = Trace()', 't.run(line)'],
    ['from code import InteractiveInterpreter as I; go = I()', 'go.runsource(line)'],
    ['from ctypes import CDLL as L; lib = L(None)', 'lib.system(line)'],
  ]),
  ...of('a.sh', [['alias run=eval', 'run word']]),
  ...of('a.rb', [
    ['alias run eval', 'run(line)'],
    ['run = method(:system)', 'run.call(line)'],
  ]),
  ...of('a.php', [
    ['<?php\nuse function system as run;', 'run($x);'],
    ["<?php\n$f = 'system';", '$f($x);'],
    ['<?php\n$f = "system";', '$f($x);'],
  ]),
  ...of('a.java', [
    ['class A {\n Runtime r;', ' void f() { r.exec(line); }\n}'],
    ['class A {\n ProcessBuilder b;', ' void f() { b.command("sh", "-c", line); }\n}'],
    ['class A {\n GroovyShell s;', ' void f() { s.run(text, name); }\n}'],
    ['import static groovy.util.Eval.me;\nclass A {', ' void f() { me(text); }\n}'],
    ['import static ognl.Ognl.getValue;\nclass A {', ' void f() { getValue(text, a); }\n}'],
    ['class A {\n ELProcessor p;', ' void f() { p.getValue(text, a); }\n}'],
    ['import org.jruby.embed.*;\nclass A {\n ScriptingContainer c;', ' void f() { c.parse(text); }\n}'],
    ['import javax.tools.*;\nclass A {\n JavaCompiler c;', ' void f() { c.run(a, b, d, text); }\n}'],
  ]),
  ...of('a.kt', [
    ['import java.lang.Runtime as R', 'val p = R.getRuntime().exec(line)'],
    ['val s: GroovyShell = g()', 'val p = s.run(text, name)'],
  ]),
  ...of('a.scala', [['import sys.process._', 'val p = s"ls $x".!']]),
  ...of('a.go', [
    ['package a\nimport r "os/exec"', 'var c = r.Command("sh", "-c", line)'],
    ['package a\nimport "os/exec"\nvar run = exec.Command', 'var c = run("sh", "-c", line)'],
    [
      'package a\nimport "syscall"\nvar run = syscall.Exec',
      'var c = run("sh", []string{"sh", "-c", line}, nil)',
    ],
    [
      'package a\nimport "os"\nvar run = os.StartProcess',
      'var c = run("sh", []string{"sh", "-c", line}, nil)',
    ],
    [
      'package a\nimport "golang.org/x/sys/execabs"\nvar run = execabs.Command',
      'var c = run("sh", "-c", line)',
    ],
  ]),
  ...of('a.cs', [
    ['using P = System.Diagnostics.Process;', 'P.Start("sh", "-c " + line);'],
    ['using S = Microsoft.CodeAnalysis.CSharp.Scripting.CSharpScript;', 'S.EvaluateAsync(text);'],
    [
      'class A {\n ProcessStartInfo i = new ProcessStartInfo("sh");',
      ' void F() { i.ArgumentList.Add("-c"); i.ArgumentList.Add(line); }\n}',
    ],
  ]),
];

const comments: Readonly<Record<string, string>> = { py: '#', rb: '#', sh: '#' };

/** The file before the change, and behind it. */
export function sidesOf([path, given, used]: Rename): { readonly base: string; readonly candidate: string } {
  const mark = comments[path.slice(path.lastIndexOf('.') + 1)] ?? '//';
  const base = `${given}\n${`${mark} a\n`.repeat(20)}`;
  return { base, candidate: `${base}${used}\n` };
}
