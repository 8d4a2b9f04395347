import { appendPointer } from '../../core/base/json-pointer.ts';
import { quoted } from '../../core/base/quoted.ts';
import { error, type Issue } from '../../core/contract/issue.ts';
import { maxViolations } from './max-violations.ts';
import { findSchemaViolations, type SchemaViolation } from './schema-violations.ts';

/** Every way in which a parsed document breaks the JSON Schema; nothing means it conforms. Never throws. */
export function findSchemaIssues(document: unknown): readonly Issue[] {
  const violations = findSchemaViolations(document);
  const mistyped = new Set(violations.filter(({ keyword }) => keyword === 'type').map(({ at }) => at));
  const issues: Issue[] = [];
  for (const violation of violations) {
    // A number where one of five words belongs is one mistake, not two.
    const echo = violation.keyword === 'enum' || violation.keyword === 'const';
    if (!(echo && mistyped.has(violation.at))) issues.push(toIssue(violation));
  }
  if (violations.length >= maxViolations) {
    issues.push(
      error(
        'SCHEMA_TOO_MANY_ISSUES',
        '',
        `expected a contract, found at least ${maxViolations} violations; the rest is not listed`,
      ),
    );
  }
  return issues;
}

function toIssue({ keyword, at, said }: SchemaViolation): Issue {
  const code = `SCHEMA_${keyword.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
  switch (keyword) {
    case 'required':
      return error(code, at, `expected the property ${quoted(String(said))}, found none`);
    case 'additionalProperties': {
      const found = String(said);
      return error(
        code,
        appendPointer(at, found),
        `expected only properties of the contract, found ${quoted(found)}`,
      );
    }
    case 'type':
      return error(code, at, `expected a value of type ${said}`);
    case 'enum':
      return error(code, at, `expected one of ${(said as readonly string[]).map(quoted).join(', ')}`);
    case 'const':
      return error(code, at, `expected ${quoted(String(said))}`);
    case 'minLength':
      return error(code, at, `expected at least ${said} characters`);
    case 'maxLength':
      return error(code, at, `expected at most ${said} characters`);
    case 'minItems':
      return error(code, at, `expected at least ${said} items`);
    case 'minimum':
      return error(code, at, `expected at least ${said}`);
    case 'maximum':
      return error(code, at, `expected at most ${said}`);
    case 'pattern':
      return error(code, at, patternMessages[at] ?? 'expected another form');
    case 'format':
      return error(
        code,
        at,
        `expected a ${said} of RFC 3339 with a time zone, such as \`2026-01-31T09:30:00Z\``,
      );
    default:
      return error(code, at, `expected what \`${keyword}\` of the schema says`);
  }
}

const patternMessages: Readonly<Record<string, string>> = {
  '/apiVersion':
    'expected `intentspec.<domain>/v<N>` with an optional `alpha<N>` or `beta<N>`, such as `intentspec.io/v1alpha1`',
  '/lifecycle/schemaVersion': 'expected `<major>.<minor>.<patch>` in digits, such as `1.0.0`',
};
