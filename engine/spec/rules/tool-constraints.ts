import { appendPointer } from '../../../core/base/json-pointer.ts';
import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { type Issue, warning } from '../../../core/contract/issue.ts';
import { readNetworkHost } from '../network-host.ts';
import type { Partly } from '../partly.ts';
import { isToolConstraintKey, type ToolConstraintKey } from '../tool-constraint-keys.ts';

const shapes: Readonly<
  Record<ToolConstraintKey, { readonly expected: string; readonly holds: (value: unknown) => boolean }>
> = {
  writeRoots: { expected: 'a list of paths', holds: isTextList },
  denyPaths: { expected: 'a list of paths', holds: isTextList },
  allowCommands: { expected: 'a list of word sequences', holds: isTextList },
  denySubstrings: { expected: 'a list of strings', holds: isTextList },
  maxOutputBytes: { expected: 'a number of bytes', holds: isByteCount },
  maxWriteBytes: { expected: 'a number of bytes', holds: isByteCount },
  maxResultBytes: { expected: 'a number of bytes', holds: isByteCount },
  networkReason: {
    expected: 'a reason in words',
    holds: (value) => typeof value === 'string' && value.trim() !== '',
  },
  networkHosts: {
    expected: 'a list of domain patterns, each with an optional port',
    holds: (value) => isTextList(value) && value.every((host) => readNetworkHost(host) !== undefined),
  },
};

const networkKeys = ['networkHosts', 'networkReason'] as const;

/** ToolRule constraints are known and usable; each other one is a warning here and fails closed at run time. */
export function toolConstraints(spec: Partly<IntentSpec>): readonly Issue[] {
  return (['allow', 'deny'] as const).flatMap((list) =>
    (spec.security?.toolAcl?.[list] ?? []).flatMap((rule, index) => {
      const at = `/security/toolAcl/${list}/${index}/constraints`;
      const constraints = rule?.constraints ?? {};
      const judged = Object.entries(constraints).flatMap(([key, value]) =>
        judge(key, value, appendPointer(at, key)),
      );
      const [key, other] = networkKeys.filter((one) => Object.hasOwn(constraints, one));
      if (key === undefined || other !== undefined) return judged;
      const missing = networkKeys.find((one) => one !== key);
      const message = `expected a \`${missing}\` beside it; at run time the rule fails closed`;
      return [...judged, warning('SEMANTIC_TOOL_CONSTRAINT_VALUE', `${at}/${key}`, message)];
    }),
  );
}

function judge(key: string, value: unknown, path: string): readonly Issue[] {
  if (!isToolConstraintKey(key)) {
    return [
      warning(
        'SEMANTIC_TOOL_CONSTRAINT_UNKNOWN',
        path,
        `expected a known constraint, found ${quoted(key)}; at run time the rule fails closed`,
      ),
    ];
  }
  const { expected, holds } = shapes[key];
  if (holds(value)) return [];
  return [
    warning(
      'SEMANTIC_TOOL_CONSTRAINT_VALUE',
      path,
      `expected ${expected}; at run time the rule fails closed`,
    ),
  ];
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item.trim() !== '');
}

function isByteCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
