import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';
import { spdxIdText } from '../spdx-ids.gen.ts';

/** A license of one's own (SPDX 2.3, annex D): on no list, but it says exactly one thing, so it is taken as written. */
const licenseRef = /^LicenseRef-[A-Za-z0-9.-]+$/;

/**
 * Every SPDX id exists: on the SPDX list, deprecated ones included, in the list's spelling; or it is a `LicenseRef-`.
 */
export function spdxIds(spec: Partly<IntentSpec>): readonly Issue[] {
  const allowed = spec.constraints?.licensing?.allowedSpdx ?? [];
  if (allowed.length === 0) return [];
  const known = new Set(spdxIdText.split(' '));
  return allowed.flatMap((id, index) => {
    if (id === undefined || known.has(id) || licenseRef.test(id)) return [];
    const lower = id.toLowerCase();
    const meant = [...known].find((one) => one.toLowerCase() === lower);
    const found = `found ${quoted(id)}${meant ? `; did you mean \`${meant}\`` : ''}`;
    return [
      error(
        'SEMANTIC_SPDX_ID',
        `/constraints/licensing/allowedSpdx/${index}`,
        `expected an SPDX license identifier, ${found}`,
      ),
    ];
  });
}
