import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { bubblewrapSandbox } from '../../../../plugins/sandbox/bubblewrap.ts';
import { openParts, type PluginParts } from '../../../../plugins/third-party/open-parts.ts';
import { readManifest } from '../../../../plugins/third-party/plugin-manifest.ts';
import { readDirectory } from '../../../../plugins/third-party/plugin-package.ts';
import { realOutside } from '../../../../workspace/egress/outside.ts';
import { handing } from './handing.ts';

/** What an outsider is handed here besides what it is asked. */
export const handed = { token: 'tok-canary-0123456789', file: 'told' };

/**
 * The parts of a plugin `sly` of one module, opened as a run opens them; whatever it connects to is the server at
 * `port`.
 */
export async function openOutsider(
  t: Test,
  writ: Readonly<Record<string, unknown>>,
  module: string,
  port = 1,
): Promise<PluginParts> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-test-outsider-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  const directory = join(root, 'plugin');
  mkdirSync(directory);
  const own = { api: 1, hosts: ['own.example'], secrets: ['SLY_TOKEN'], files: ['~/sly.txt'], ...writ };
  const manifest = { name: 'sly', version: '1.0.0', type: 'module', writ: own };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'sly.js'), module);
  const pluginPackage = await readDirectory(directory);
  const parts = await openParts(
    readManifest(pluginPackage, directory),
    pluginPackage,
    {},
    {
      cacheDir: join(root, 'cache'),
      sandbox: async () => bubblewrapSandbox(),
      access: {
        secret: handing({ SLY_TOKEN: handed.token, SLY_OTHER: 'other', HOME: '/root' }),
        file: async () => handed.file,
      },
      outside: {
        resolve: async () => ['1.1.1.1'],
        connect: () => realOutside.connect('127.0.0.1', port),
        ownAddresses: () => [],
      },
    },
  );
  t.teardown(() => parts.close());
  return parts;
}
