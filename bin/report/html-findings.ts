import type { Finding, Severity } from '../../core/contract/finding.ts';
import { escapeHtml } from './escape-html.ts';

/** Findings in view, and those that can be unfolded; the rest is counted. */
const open = 20;
const most = 200;
const tones: Readonly<Record<Severity, string>> = { error: 'bad', warning: 'open', note: '' };

/** A list of findings, errors first, bounded; the empty string where there is none. */
export function findingList(
  findings: readonly { readonly finding: Finding; readonly checkId?: string }[],
): string {
  if (findings.length === 0) return '';
  const order: readonly Severity[] = ['error', 'warning', 'note'];
  const sorted = order.flatMap((severity) => findings.filter(({ finding }) => finding.severity === severity));
  const items = sorted.slice(0, most).map(({ finding, checkId }) => {
    const place =
      finding.path === undefined
        ? ''
        : `${finding.path}${finding.line === undefined ? '' : `:${finding.line}`}${finding.column === undefined ? '' : `:${finding.column}`}`;
    const where = [
      checkId === undefined ? '' : `check <code><bdi>${escapeHtml(checkId, 128)}</bdi></code>`,
      place === '' ? '' : `<code><bdi>${escapeHtml(place, 1024)}</bdi></code>`,
    ]
      .filter((part) => part !== '')
      .join(' · ');
    return `<li><span class="pill ${tones[finding.severity]}">${finding.severity}</span> <code><bdi>${escapeHtml(finding.rule, 128)}</bdi></code> <span class="message"><bdi>${escapeHtml(finding.message, 2000)}</bdi></span>${where === '' ? '' : `<span class="where">${where}</span>`}</li>`;
  });
  const rest = findings.length - items.length;
  const shown = `<ul class="findings">${items.slice(0, open).join('')}</ul>`;
  if (items.length <= open) return shown;
  const end = rest > 0 ? `<li class="soft">and ${rest} beyond these</li>` : '';
  return `${shown}<details><summary>${findings.length - open} more findings</summary><ul class="findings">${items.slice(open).join('')}${end}</ul></details>`;
}
