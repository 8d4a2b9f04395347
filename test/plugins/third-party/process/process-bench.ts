import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import {
  type PluginCall,
  type PluginProcess,
  pluginProcess,
} from '../../../../plugins/third-party/process/plugin-process.ts';
import type { PluginProcessSetup } from '../../../../plugins/third-party/process/start-talk.ts';

export const quick: Pick<PluginCall, 'idleMs' | 'withinMs' | 'maxBytes' | 'secrets'> = {
  idleMs: 10_000,
  withinMs: 20_000,
  maxBytes: 1024 * 1024,
  secrets: [],
};

/** A plugin of these files in a process of its own, closed with the test. */
export function openProcess(
  t: Test,
  files: Readonly<Record<string, string>>,
  more: Partial<PluginProcessSetup> = {},
): PluginProcess {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-plugin-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries({ 'files/package.json': '{"type":"module"}', ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  mkdirSync(join(root, 'empty'));
  const opened = pluginProcess({
    plugin: 'sample',
    directory: join(root, 'files'),
    empty: join(root, 'empty'),
    sandbox: bubblewrapSandbox(),
    hosts: [],
    ...more,
  });
  t.teardown(() => opened.close());
  return opened;
}

export const call = (name: string, ...args: readonly unknown[]): PluginCall => ({
  module: 'main.js',
  call: name,
  args: [...args, {}],
  ...quick,
});
