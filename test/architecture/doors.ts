/** One dependency or global and the one file that may touch it. */
export interface Door {
  readonly name: string;
  /** Absent: nobody may, until the issue that needs it brings the file. */
  readonly file?: string;
  /** Files that may touch it besides: to answer on this machine and never to ask, or because they run in a page. */
  readonly servers?: readonly string[];
  /** Type-only imports are nobody's business. */
  readonly typesAreFree?: boolean;
  /** Matches an import specifier. */
  readonly specifier?: RegExp;
  /** Matches code without comments and strings. */
  readonly code?: RegExp;
}

/** One door per dependency (architecture, The rooms). */
export const doors: readonly Door[] = [
  { name: 'tapable', file: 'core/kernel/hook.ts', specifier: /^tapable$/ },
  { name: 'piscina', file: 'core/kernel/worker/pool.ts', specifier: /^piscina(?:\/|$)/ },
  {
    name: 'a pool of threads',
    file: 'core/kernel/engine.ts',
    // What judges a rule by itself has no engine.
    servers: ['plugins/testers/gate-tester.ts'],
    code: /(?<!function )\bcreatePool\(/,
  },
  {
    name: 'the engine of every built-in',
    file: 'plugins/preset/open-engine.ts',
    code: /(?<!function )\bpreset\(/,
  },
  { name: 'encryption of secrets', file: 'attest/keys/age.ts', specifier: /^age-encryption(?:\/|$)/ },
  { name: 'cac', file: 'bin/dispatch.ts', specifier: /^cac$/ },
  {
    name: 'child processes',
    file: 'workspace/process/spawn.ts',
    specifier: /^node:(?:child_process|cluster)$/,
  },
  {
    name: 'outbound HTTP',
    file: 'workspace/egress/outside.ts',
    servers: [
      'attest/log/serve-ledger.ts',
      'http/loopback-server.ts',
      // The page asks whoever served it, and its policy knows nobody else.
      'session/web/wire/follow-session.ts',
      'session/web/wire/follow-session.ts',
    ],
    // What a request and an answer look like.
    typesAreFree: true,
    specifier: /^node:(?:http|https|http2|tls|dgram|dns)(?:\/.*)?$/,
    code: /(?<![.\w])fetch\s*\(|\bnew\s+(?:WebSocket|EventSource)\b/,
  },
  { name: 'HTTP that writ sends itself', file: 'core/base/net.ts', specifier: /^undici$/ },
  // A second reading of the same bytes could differ from the one that was judged.
  { name: "the sigstore library's own reading of bundles", code: /\b(?:bundle|envelope)FromJSON\b/ },
  {
    name: 'the parts of a bundle',
    file: 'attest/bundle/any-bundle.ts',
    // One judges the form of our own; the others, what a check reports, as no proof of anything.
    servers: ['attest/bundle/bundle.ts', 'gates/formats/documents.ts', 'gates/formats/documents.ts'],
    code: /\.(?:verificationMaterial|dsseEnvelope|messageSignature)\b/,
  },
  // It brings an HTTP client of its own.
  { name: 'the sigstore client', file: 'attest/public/public-log-source.ts', specifier: /^@sigstore\/sign$/ },
  { name: 'the HTTP framework', file: 'http/loopback-server.ts', specifier: /^(?:hono|@hono\/.*)(?:\/|$)/ },
  {
    name: 'the Model Context Protocol',
    file: 'session/mcp/open-mcp-server.ts',
    // The two ways that a client comes in by.
    servers: ['session/mcp/serve-mcp-stdio.ts', 'session/mcp/serve-mcp-http.ts'],
    typesAreFree: true,
    specifier: /^@modelcontextprotocol\/server(?:\/|$)/,
  },
  {
    name: 'the Agent Client Protocol',
    file: 'session/acp/serve-acp.ts',
    typesAreFree: true,
    specifier: /^@agentclientprotocol\//,
  },
  {
    name: 'the client of the Model Context Protocol',
    file: 'agent/mcp/connect-server.ts',
    specifier: /^@modelcontextprotocol\/(?!server(?:\/|$))/,
  },
  {
    name: 'the event stream parser',
    file: 'core/base/event-stream.ts',
    specifier: /^eventsource-parser(?:\/|$)/,
  },
  { name: 'SQL', file: 'store/sql.ts', specifier: /^(?:node:sqlite|node-sqlite3-wasm(?:\/.*)?)$/ },
  {
    // Nothing is unpacked without a bound.
    name: 'inflating',
    file: 'readers/documents/archive/inflate.ts',
    code: /\b(?:inflate(?:Raw)?|gunzip|unzip|(?:brotli|zstd)Decompress)Sync\b|\bcreate(?:Inflate(?:Raw)?|Gunzip|Unzip|BrotliDecompress|ZstdDecompress)\b/,
  },
  {
    name: 'time',
    file: 'core/base/clock.ts',
    servers: ['session/web/page/keep-transcript.ts'],
    specifier: /^node:perf_hooks$/,
    code: /\bDate\.now\b|\bnew\s+Date\s*(?:\(\s*\)|[;,)\]}])|\bperformance\.|\bprocess\.(?:hrtime|uptime)\b/,
  },
  {
    name: 'randomness',
    file: 'core/base/ids.ts',
    servers: ['session/web/page/keep-transcript.ts'],
    code: /\bMath\.random\b|\brandom(?:Bytes|UUID|Int|FillSync|Fill)\b|\bgetRandomValues\b/,
  },
  {
    name: 'the end of the process',
    file: 'bin/exit.ts',
    code: /\bprocess\.(?:exit|reallyExit|abort)\s*\(|\bprocess\.exitCode\b/,
  },
  {
    // `bin/terminal/print.ts` writes to what `bin/main.ts` hands it.
    name: 'the terminal',
    file: 'bin/main.ts',
    // The screen of a session has the whole terminal, keys and all; the version is printed without the command table.
    // The library of completion scripts prints them, and its answer is taken.
    servers: ['session/tui/term/process-ground.ts', 'bin/version-alone.ts', 'bin/commands/completion.ts'],
    code: /\bconsole\.|\bprocess\.std(?:out|err)\b/,
  },
];
