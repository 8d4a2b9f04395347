import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, Sample } from '../../engine/sample.ts';
import { inventedSecrets } from '../../readers/sensitive/secrets/invented-secrets.ts';

/** An invented token that looks real to every detector. */
export const token = inventedSecrets.find(([rule]) => rule === 'github-token')?.[1] ?? '';

/** A contract of one command, so that only the secret can refuse. */
export const plain: Json = {
  intent: { changeType: 'feature', inScope: ['src/', 'test/'] },
  acceptance: {
    verificationPlan: {
      fastChecks: [{ id: 'unit', kind: 'command', command: 'true', required: true, timeoutSeconds: 60 }],
    },
  },
};

/** A patch that adds a file of these lines. */
export function add(path: string, ...lines: string[]): string {
  return `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
}

/**
 * Where any of these texts stands: every object of the repository, reachable or not, and every file below its git
 * directory and home.
 */
export function tracesOf(sample: Sample, ...texts: string[]): readonly string[] {
  const found: string[] = [];
  const holds = (bytes: Buffer): boolean =>
    texts.some((text) => bytes.includes(text) || bytes.includes(Buffer.from(text, 'utf16le')));
  const ids = sample
    .git('cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)')
    .split('\n');
  for (const line of ids) {
    const [id = '', type = ''] = line.split(' ');
    const bytes = execFileSync('git', ['cat-file', type, id], {
      cwd: sample.root,
      env: sample.env,
      maxBuffer: 1 << 28,
    });
    if (holds(bytes)) found.push(`${type} ${id}`);
  }
  for (const root of [join(sample.root, '.git'), sample.home]) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (holds(Buffer.from(path))) found.push(`name ${path}`);
      if (entry.isFile() && holds(readFileSync(path))) found.push(path.slice(root.length + 1));
    }
  }
  return found;
}
