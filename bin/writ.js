#!/bin/sh
':' //; exec node --initial-old-space-size=64 -- "$0" "$@"
// To the shell the line above starts Node; to JavaScript it is a word. Behind `--` alone Node leaves `--env-file` to
// us: it would run what `NODE_OPTIONS` of that file names. `env -S` is not everywhere. Megabytes for old objects: where
// V8 chooses it shrinks them to what is in use, and a thread that compiles may want a collection of the garbage from a
// main thread that ends and waits for it, for ever (nodejs/node#54918): one in eight ends of a command that reads SQLite.
// ECMAScript 5 on purpose, so that an old Node reaches the sentence that refuses it (trailing commas of calls are newer).
'use strict';
(function () {
  var found = /^(\d+)\.(\d+)\.(\d+)/.exec(process.versions.node) || ['', '0', '0', '0'];
  var major = Number(found[1]);
  var minor = Number(found[2]);
  var patch = Number(found[3]);
  var supported =
    major >= 26 ||
    (major === 24 && minor >= 15) ||
    (major === 22 && (minor > 22 || (minor === 22 && patch >= 2)));
  if (!supported) {
    var range = '^22.22.2 || ^24.15.0 || >=26';
    process.stderr.write(
      'writ: NODE_UNSUPPORTED: expected Node ' + range + ', found ' + process.versions.node + '\n',
    );
    process.exitCode = 128;
    return;
  }

  var fs = process.getBuiltinModule('node:fs');
  var here = fs.realpathSync(process.argv[1]).replace(/[^/\\]*$/, '');
  if (process.argv.length === 3 && process.argv[2] === '--version') {
    process.stdout.on('error', function (fault) {
      if (fault.code === 'EPIPE' || fault.code === 'ECONNRESET') return;
      process.stderr.write('writ: OUTPUT_FAILED: stdout could not be written: ' + fault.message + '\n');
      process.exitCode = 128;
    });
    process.stdout.write(JSON.parse(fs.readFileSync(here + '../package.json', 'utf8')).version + '\n');
    return;
  }

  var argv = process.argv.slice(2);
  var own = ownDirectory();
  // Commands of one file each, CommonJS: what is compiled as a script can be kept once its functions have run.
  var isValidate = argv[0] === 'spec' && argv[1] === 'validate';
  var alone = argv[0] === 'verify' ? 'verify-alone.cjs' : isValidate ? 'validate-alone.cjs' : '';
  var fromSources = fs.existsSync(here + 'main.ts');
  if (alone && !fromSources) {
    loadAlone(here.replace(/[^/\\]*[/\\]$/, '') + 'dist/bin/' + alone).main(argv);
    return;
  }
  load(fromSources ? './main.ts' : '../dist/bin/main.js').then(function (main) {
    main.main(argv);
  });

  /** A module, by its name or where it is from here; Node keeps what was compiled of it when it was loaded. */
  function load(specifier) {
    if (own) process.getBuiltinModule('node:module').enableCompileCache(own);
    // The keyword itself would be a syntax error on the Nodes that are refused above.
    return new Function('specifier', 'return import(specifier)')(specifier);
  }

  /**
   * What a file of CommonJS exports, with as little compiling as there can be. Node keeps what was compiled when a file
   * was loaded, and compiling functions as they are first called is much of a short command: so what V8 has made of the
   * file is kept once its functions have run, and again where parts of it ran that had not before.
   */
  function loadAlone(file) {
    var vm = process.getBuiltinModule('node:vm');
    var text = fs.readFileSync(file);
    var by = own && !process.env.NODE_DISABLE_COMPILE_CACHE ? madeBy(file) : '';
    var place = by ? placeOf(by) : '';
    var kept = place ? readKept(place, by, text) : undefined;
    var script = new vm.Script('(function (exports, module, __filename) {' + text.latin1Slice() + '\n})', {
      filename: file,
      cachedData: kept ? kept.code : undefined,
    });
    var known = kept && !script.cachedDataRejected ? kept.ran : undefined;
    var module = { exports: {}, ran: [], loadBeside: nextTo };
    script.runInThisContext()(module.exports, module, file);
    if (place) {
      process.on('exit', function (code) {
        var isNew = function (ran, part) {
          return ran && !known[part];
        };
        if (code < 2 && (!known || module.ran.some(isNew)))
          keep(place, by, text, module.ran, known || [], script);
      });
    }
    return module.exports;

    function nextTo(specifier) {
      var isPlace = /^\.\.?\//.test(specifier);
      return load(
        isPlace
          ? new URL(specifier, process.getBuiltinModule('node:url').pathToFileURL(file)).href
          : specifier,
      );
    }
  }

  /** What compiled code is of besides the text: one file for each program and each Node that runs it. */
  function madeBy(file) {
    var options = [process.execArgv.join(' '), process.env.NODE_OPTIONS || ''];
    var by = [file, process.execPath, process.version, process.versions.v8, process.arch].concat(options);
    return Buffer.from(by.concat(String(isInRepository())).join('\n'));
  }

  /** Commands load more code inside a repository; outside one, cached code for it would be read in vain. */
  function isInRepository() {
    var path = process.getBuiltinModule('node:path');
    try {
      for (var at = process.cwd(); ; at = path.dirname(at)) {
        if (fs.existsSync(path.join(at, '.git'))) return true;
        if (at === path.dirname(at)) return false;
      }
    } catch (_) {
      return false;
    }
  }

  /** File name from a 32-bit FNV-1a hash. Collisions are rare and harmless, because the file contains its full key. */
  function placeOf(by) {
    var name = 0x811c9dc5;
    for (var at = 0; at < by.length; at += 1) name = Math.imul(name ^ by[at], 0x01000193);
    return own + '/alone-' + (name >>> 0).toString(16);
  }

  /**
   * Returns the code that `keep` wrote for this text. V8 runs it without checking it against the source, so the file
   * must be complete and unmodified.
   *
   * The file begins with its full key and ends with the code twice. That replaces a hash, which would be most of the
   * reading time. Returns `undefined` for a link, a file not owned by this user alone, or a truncated or changed
   * file.
   */
  function readKept(place, by, text) {
    var flags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW || 0) | (fs.constants.O_NONBLOCK || 0);
    var file = -1;
    try {
      file = fs.openSync(place, flags);
      var stats = fs.fstatSync(file);
      if (stats.nlink !== 1 || !isOwn(stats, true) || stats.size > 33554432) return undefined;
      var bytes = fs.readFileSync(file);
      var head = headOf(by, text);
      if (!head.equals(bytes.subarray(0, head.length))) return undefined;
      var from = head.length + roundUp(text.length);
      if (!text.equals(bytes.subarray(head.length, head.length + text.length))) return undefined;
      var half = (bytes.length - from) / 2;
      var code = bytes.subarray(from, from + half);
      if (!code.equals(bytes.subarray(from + half))) return undefined;
      var parts = code.readUInt32LE(0);
      return { ran: code.subarray(8, 8 + parts), code: code.subarray(8 + roundUp(parts)) };
    } catch (_) {
      return undefined;
    } finally {
      if (file !== -1) fs.closeSync(file);
    }
  }

  /** Both lengths come first, so that a different pair of key and text cannot produce the same bytes. */
  function headOf(by, text) {
    var head = Buffer.alloc(8 + roundUp(by.length));
    head.writeUInt32LE(by.length, 0);
    head.writeUInt32LE(text.length, 4);
    by.copy(head, 8);
    return head;
  }

  /**
   * Writes atomically: a reader sees the complete file or none. If the write fails, the next start is as slow as this
   * one.
   */
  function keep(place, by, text, ran, known, script) {
    var written = place + '-' + process.pid + '-' + process.hrtime().join('-');
    try {
      fs.writeFileSync(written, '', { flag: 'wx', mode: 384 });
    } catch (_) {
      return;
    }
    try {
      var parts = Math.max(ran.length, known.length);
      var head = Buffer.alloc(8 + roundUp(parts));
      head.writeUInt32LE(parts, 0);
      for (var part = 0; part < parts; part += 1) head[8 + part] = ran[part] || known[part] || 0;
      var padding = Buffer.alloc(roundUp(text.length) - text.length);
      var code = [head, script.createCachedData()];
      fs.writeFileSync(written, Buffer.concat([headOf(by, text), text, padding].concat(code, code)));
      fs.renameSync(written, place);
      forgetOld();
    } catch (_) {
      fs.rmSync(written, { force: true });
    }
  }

  /** What was kept for programs and Nodes that may be gone, and what was never finished, goes after a month. */
  function forgetOld() {
    fs.readdirSync(own).forEach(function (name) {
      var path = own + '/' + name;
      if (/^alone-/.test(name) && Date.now() - fs.lstatSync(path).mtimeMs > 2592e6)
        fs.rmSync(path, { force: true });
    });
  }

  /** V8 copies code that does not begin at a multiple of eight. */
  function roundUp(length) {
    return Math.ceil(length / 8) * 8;
  }

  /**
   * Returns the directory of compiled code. Node runs cached code without checking its source, so other users must
   * not be able to write it. Node's default is in the temporary directory, which any user can create first. Returns
   * `undefined` without a safe directory; the program then only starts more slowly.
   */
  function ownDirectory() {
    var path = process.getBuiltinModule('node:path');
    var home = process.env.HOME || '';
    var cache = process.env.XDG_CACHE_HOME || '';
    if (!path.isAbsolute(home)) home = process.getBuiltinModule('node:os').homedir();
    if (!path.isAbsolute(cache)) cache = path.join(home, '.cache');
    try {
      var own = path.join(cache, 'writ', 'compiled');
      fs.mkdirSync(own, { recursive: true, mode: 448 });
      own = fs.realpathSync(own);
      for (var at = own; ; at = path.dirname(at)) {
        if (!isOwn(fs.lstatSync(at), at === own)) return undefined;
        if (at === path.dirname(at)) return own;
      }
    } catch (_) {
      return undefined;
    }
  }

  /**
   * Only this user and root can replace the entry. A sticky directory is accepted, because it prevents other users
   * from replacing files they do not own.
   */
  function isOwn(stats, last) {
    var user = process.getuid ? process.getuid() : stats.uid;
    var writable = process.getuid ? stats.mode & 18 : 0;
    if (stats.uid !== user && (last || stats.uid !== 0)) return false;
    return !writable || (!last && (stats.mode & 512) !== 0);
  }
})();
