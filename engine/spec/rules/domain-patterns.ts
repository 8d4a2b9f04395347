import { quoted } from '../../../core/base/quoted.ts';
import type { IntentSpec } from '../../../core/contract/intentspec.gen.ts';
import { error, type Issue } from '../../../core/contract/issue.ts';
import { isDomainPattern } from '../domain-pattern.ts';
import type { Partly } from '../partly.ts';

/** Domain patterns are well formed; `*` alone stands only in `blockedDomains`. */
export function domainPatterns(spec: Partly<IntentSpec>): readonly Issue[] {
  return (['allowedDomains', 'blockedDomains'] as const).flatMap((list) =>
    (spec.evidence?.[list] ?? []).flatMap((pattern, index) => {
      if (pattern === undefined || isDomainPattern(pattern) || (list === 'blockedDomains' && pattern === '*'))
        return [];
      const message = `expected a host name, \`*.domain\` or an IP literal, without scheme, port or path, found ${quoted(pattern)}`;
      return [error('SEMANTIC_DOMAIN_PATTERN', `/evidence/${list}/${index}`, message)];
    }),
  );
}
