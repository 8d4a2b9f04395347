import { appendPointer } from '../../../core/base/json-pointer.ts';
import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import type { Partly } from '../partly.ts';

const vendorKey = /^[A-Za-z0-9][A-Za-z0-9.-]*\/[^/]+$/;

/** Extension keys should be of the form `<vendor>/<key>`. */
export function extensionKeys(spec: Partly<IntentSpec>): readonly Issue[] {
  return Object.keys(spec.extensions ?? {})
    .filter((key) => !vendorKey.test(key))
    .map((key) =>
      warning(
        'SEMANTIC_EXTENSION_KEY',
        appendPointer('/extensions', key),
        `expected a key of the form \`<vendor>/<key>\`, found ${quoted(key)}`,
      ),
    );
}
