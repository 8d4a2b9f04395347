import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { spdxIdText } from '../../../core/contract/spdx-ids.gen.ts';
import type { Partly } from '../partly.ts';

/** A license of one's own (SPDX 2.3, annex D): on no list, but it says exactly one thing, so it is taken as written. */
const licenseRef = /^LicenseRef-[A-Za-z0-9.-]+$/i;

/**
 * Every SPDX id is on the SPDX list, deprecated ones included, or is a `LicenseRef-`. Ids compare without case (SPDX
 * 2.3, annex D.2).
 */
export function spdxIds(spec: Partly<IntentSpec>): readonly Issue[] {
  const allowed = spec.constraints?.licensing?.allowedSpdx ?? [];
  if (allowed.length === 0) return [];
  const known = new Set(spdxIdText.toLowerCase().split(' '));
  return allowed.flatMap((id, index) => {
    if (id === undefined || known.has(id.toLowerCase()) || licenseRef.test(id)) return [];
    return [
      error(
        'SEMANTIC_SPDX_ID',
        `/constraints/licensing/allowedSpdx/${index}`,
        `expected an SPDX license identifier, found ${quoted(id)}`,
      ),
    ];
  });
}
