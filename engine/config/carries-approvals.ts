import { isWritError, WritError } from '../../core/base/errors.ts';
import { readApprovalsSection } from './approvals-section.ts';
import { parseToml } from './parse-toml.ts';
import { type ConfigIssue, TableReader } from './table-reader.ts';

const maxBytes = 256 * 1024;

/**
 * Whether a `.writ/config.toml` has a valid `[approvals]` with `carry = "equivalent"`. False for a missing or invalid
 * file: the default is that no approval carries over.
 */
export function carriesApprovals(config: Uint8Array | undefined): boolean {
  if (config === undefined) return false;
  const issues: ConfigIssue[] = [];
  try {
    const document = parseToml(config, maxBytes, () => new WritError('CONFIG_INVALID'));
    const { carry } = readApprovalsSection(new TableReader(document, '', issues).table('approvals'));
    return issues.length === 0 && carry === 'equivalent';
  } catch (fault) {
    if (isWritError(fault, 'CONFIG_INVALID')) return false;
    throw fault;
  }
}
