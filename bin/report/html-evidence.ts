import type { RunView } from '../../core/contract/run-view.ts';
import { escapeHtml } from './escape-html.ts';
import { toCount, toSize } from './quantities.ts';

/** Rows shown per table; the rest is counted. */
const most = 500;

/** Changed files of the patch, folded away beyond a dozen. */
export function patchTable(patch: NonNullable<RunView['patch']>): string {
  const rows = patch.files
    .slice(0, most)
    .map(
      (file) =>
        `<tr><td><code><bdi>${escapeHtml(file.path, 1024)}</bdi></code></td><td class="change">${escapeHtml(file.changeType)}</td><td class="right counts">+${file.linesAdded} −${file.linesDeleted}</td></tr>`,
    );
  return `<details${patch.files.length <= 12 ? ' open' : ''}><summary>${toCount(patch.files.length, 'file')} changed</summary><table aria-label="Changed files"><thead><tr><th scope="col">File</th><th scope="col" class="change">Change</th><th scope="col" class="right counts">Lines</th></tr></thead><tbody>${rows.join('')}${more(patch.files.length, 3)}</tbody></table></details>`;
}

/** Every artifact with its whole digest. */
export function artifactTable(artifacts: RunView['artifacts']): string {
  if (artifacts.length === 0) return '<p class="card soft">No artifact was recorded.</p>';
  const rows = artifacts.slice(0, most).map((artifact) => {
    const about = [
      escapeHtml(artifact.stage, 64),
      ...(artifact.checkId === undefined ? [] : [`<bdi>${escapeHtml(artifact.checkId, 128)}</bdi>`]),
      `<bdi>${escapeHtml(artifact.contentType, 128)}</bdi>`,
      ...(artifact.redactions === undefined || artifact.redactions === 0
        ? []
        : [toCount(artifact.redactions, 'redaction')]),
      ...(artifact.expiresAt === undefined
        ? []
        : [`kept until <time>${escapeHtml(artifact.expiresAt.slice(0, 10), 32)}</time>`]),
    ].join(' · ');
    return `<tr><td><bdi>${escapeHtml(artifact.name, 128)}</bdi> <span class="soft">${about}</span><br><code class="soft"><bdi>${escapeHtml(artifact.sha256, 128)}</bdi></code></td><td class="right size">${toSize(artifact.sizeBytes)}</td></tr>`;
  });
  const table = `<table aria-label="Artifacts"><thead><tr><th scope="col">Artifact and its SHA-256</th><th scope="col" class="right size">Size</th></tr></thead><tbody>${rows.join('')}${more(artifacts.length, 2)}</tbody></table>`;
  if (artifacts.length <= 40) return `<div class="card">${table}</div>`;
  return `<div class="card"><details><summary>${toCount(artifacts.length, 'artifact')}</summary>${table}</details></div>`;
}

/** Names and values, absent ones left out. */
export function pairs(entries: readonly (readonly [string, string | number | undefined])[]): string {
  const rows = entries
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `<dt>${escapeHtml(name)}</dt><dd class="mono"><bdi>${escapeHtml(String(value))}</bdi></dd>`,
    );
  return `<dl class="pairs card">${rows.join('')}</dl>`;
}

function more(total: number, columns: number): string {
  return total > most
    ? `<tr><td colspan="${columns}" class="soft">and ${total - most} more; <code>writ show RUN --json</code> has all</td></tr>`
    : '';
}
