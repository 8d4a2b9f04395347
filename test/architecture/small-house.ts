import { posix } from 'node:path';
import { type Edge, type House, type HouseFile, type Manifest, toHouseFile } from './house.ts';

const code: Readonly<Record<string, string>> = {
  'index.ts': "export { createEngine } from './core/kernel/engine.ts';\n",
  'plugin.ts': "export type { Plugin } from './core/kernel/plugin.ts';\n",
  'verify.ts': "export { verifyMaterial } from './api/verify/verify-material.ts';\n",
  'api/verify/verify-material.ts': 'export const verifyMaterial = () => false;\n',
  'testing.ts': "export { gateTester } from './plugins/testers/gate-tester.ts';\n",
  'core/kernel/engine.ts':
    "import type { Plugin } from './plugin.ts';\nexport const createEngine = (_: Plugin) => createPool();\n",
  'core/kernel/plugin.ts': 'export interface Plugin {}\n',
  'core/kernel/hook.ts': "import { SyncHook } from 'tapable';\nexport const hook = new SyncHook();\n",
  'core/kernel/hooks.ts': "export const hooks = { tool: { guard: guard('tool.guard', setting) } };\n",
  'core/kernel/slot.ts': "export const slots = { signer: createSlot<Signer>('signer') };\n",
  'engine/ask.ts': "hooks.tool.guard.call('x');\nslots.signer\n  .pick(form);\n",
  'core/kernel/worker/pool.ts': "export const start = async () => import('piscina');\n",
  'gates/rules.ts':
    "export const rules = [\n  {\n    id: 'scope',\n  },\n  {\n    id: 'new-tests',\n  },\n];\n",
  'gates/scan/look.ts':
    "import type { run } from './look-in-thread.ts';\nexport const look = defineTask<typeof run>(new URL('./look-in-thread.ts', import.meta.url));\n",
  'gates/scan/look-in-thread.ts': 'export function run() {}\n',
  'workspace/process/spawn.ts': "import { spawn } from 'node:child_process';\nexport const run = spawn;\n",
  'workspace/egress/outside.ts': "import { request } from 'node:http';\nexport { request };\n",
  'attest/keys/age.ts': "export const open = async () => import('age-encryption');\n",
  'core/base/net.ts': "export const ask = async () => import('undici');\n",
  'attest/bundle/any-bundle.ts': 'export const read = (json) => json.verificationMaterial;\n',
  'attest/public/public-log-source.ts': "export const add = async () => import('@sigstore/sign');\n",
  'readers/documents/archive/inflate.ts':
    "import { inflateSync } from 'node:zlib';\nexport const inflate = (bytes: Buffer) => inflateSync(bytes);\n",
  'store/sql.ts': "export const openSql = async () => import('node-sqlite3-wasm');\n",
  'core/base/clock.ts': 'export const now = () => Date.now();\n',
  'core/base/ids.ts': "import { randomBytes } from 'node:crypto';\nexport const id = () => randomBytes(8);\n",
  'core/interfaces/spec.gen.ts': '/* Generated. */\nexport type Spec = string;\n',
  'engine/decide/decide.ts':
    "import type { Spec } from '../../core/interfaces/spec.gen.ts';\nexport const decide = (_: Spec) => 'abandon';\n",
  'readers/source/names.ts': 'export const names = [];\n',
  'spec/checks-of.ts': 'export const lifecycleMoves = [];\n',
  'gates/rules/scope.ts':
    "import type { Plugin } from '../../core/kernel/plugin.ts';\nexport const scope: Plugin = {};\n",
  'attest/signer/sign.ts':
    "import type { Plugin } from '../../core/kernel/plugin.ts';\nexport const sign: Plugin = {};\n",
  'api/run-data.ts':
    "import { decide } from '../engine/decide/decide.ts';\nexport const toRunData = () => decide('');\n",
  'providers/openai/source.ts':
    "import { slot } from '../../core/kernel/plugin.ts';\nexport const openai = slot;\n",
  'agent/work.ts': "import { slot } from '../core/kernel/plugin.ts';\nexport const work = slot;\n",
  'http/loopback-server.ts': "import { Hono } from 'hono';\nexport const server = new Hono();\n",
  'agent/mcp/connect-server.ts':
    "export const connect = async () => import('@modelcontextprotocol/client');\n",
  'session/acp/serve-acp.ts': "export const serve = async () => import('@agentclientprotocol/sdk');\n",
  'session/mcp/open-mcp-server.ts':
    "export const open = async () => import('@modelcontextprotocol/server');\n",
  'core/base/event-stream.ts': "export const read = async () => import('eventsource-parser');\n",
  'session/state/decide.ts': "import '../../store/sql.ts';\nexport const decide = 1;\n",
  'session/state/snapshot.ts': 'export interface Snapshot {}\n',
  'session/screen/line.ts': 'export const lines = [];\n',
  'session/tui/view.ts':
    "import type { Snapshot } from '../state/snapshot.ts';\nexport const draw = (_: Snapshot) => [];\n",
  'session/web/main.ts':
    "import { h } from 'preact';\nimport { lines } from '../screen/line.ts';\nexport const page = h(lines);\n",
  'service/run-service.ts': "import '../http/loopback-server.ts';\nexport const routes = [];\n",
  'plugins/preset.ts': "import { scope } from '../gates/rules/scope.ts';\nexport const preset = [scope];\n",
  'plugins/preset/open-engine.ts': 'export const openEngine = () => preset({});\n',
  'plugins/policy-engines/plugin.ts': "export const add = (slots) => slots.policy.add('cedar', {});\n",
  'plugins/testers/gate-tester.ts': 'export const gateTester = () => {};\n',
  'bin/dispatch.ts': "import { cac } from 'cac';\nexport const cli = cac();\n",
  'bin/exit.ts': 'export const end = () => process.exit(0);\n',
  'bin/main.ts': "import './dispatch.ts';\nexport const out = process.stdout;\n",
  'test/core/kernel/engine.test.ts': "import '../../../core/kernel/engine.ts';\n",
  'test/waiting/until.ts':
    'export const until = () => new Promise((done) => setTimeout(done, performance.now()));\n',
};

/** The smallest project that breaks no rule: one file for everything that a rule checks. */
export const soundFiles: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(code).map(([path, text]) => [path, `/* Generated for a test. */\n${text}`]),
);

export const soundManifest: Manifest = {
  dependencies: {
    tapable: '1',
    piscina: '1',
    cac: '1',
    'age-encryption': '1',
    undici: '1',
    '@sigstore/sign': '1',
    hono: '1',
    '@agentclientprotocol/sdk': '1',
    '@modelcontextprotocol/client': '1',
    '@modelcontextprotocol/server': '1',
    'node-sqlite3-wasm': '1',
    'eventsource-parser': '1',
  },
  devDependencies: { preact: '1' },
  exports: {
    '.': { default: './dist/index.js' },
    './plugin': { default: './dist/plugin.js' },
    './testing': { default: './dist/testing.js' },
    './verify': { default: './dist/verify.js' },
  },
};

/** A house out of texts; relative imports become edges without asking the compiler. */
export function toHouse(
  texts: Readonly<Record<string, string | undefined>>,
  manifest = soundManifest,
): House {
  const files = Object.entries(texts).flatMap(([path, text]): HouseFile[] =>
    text === undefined ? [] : [toHouseFile(path, text)],
  );
  const edges = files.flatMap(({ path, specifiers }): Edge[] =>
    specifiers
      .map((specifier) => ({ from: path, specifier, to: posix.join(posix.dirname(path), specifier) }))
      .filter((edge) => edge.specifier.startsWith('.') && texts[edge.to] !== undefined),
  );
  return { files, edges, manifest };
}
