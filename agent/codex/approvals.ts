/* Answers the approval requests of the Codex server under the spec's tool rules. */
import { isRecord } from '../../core/base/json-pointer.ts';
import type { AgentHost, AgentVerdict, HandUse } from '../../core/interfaces/worker.ts';
import { type Json, listOf, textOf } from './home.ts';

/** Items of a turn that are remembered until they end. */
const maxItems = 1000;
const reading = new Set(['read', 'listFiles', 'search']);

/** Answers approval requests of the server and tracks their results. */
export interface Approvals {
  /** The result of a request for approval; `undefined` where it is none. */
  answer(method: string, params: Json): Promise<Json | undefined>;
  /** Called when an item begins. */
  began(item: Json): void;
  ended(item: Json): Promise<void>;
}

/**
 * Authorizes every command and every changed file as a tool call under the spec. `isPlanning` allows only reads.
 * Questions get no answer, because no user is present. A grant covers only one use.
 */
export function openApprovals(
  { judge, workspace }: Pick<AgentHost, 'judge' | 'workspace'>,
  isPlanning: () => boolean,
): Approvals {
  const items = new Map<string, Json>();
  const allowed = new Map<string, readonly AgentVerdict[]>();

  const decide = async (itemId: string, uses: readonly HandUse[]): Promise<Json> => {
    const verdicts: AgentVerdict[] = [];
    for (const use of uses) {
      const verdict = await judge(use);
      if (verdict.refusal !== undefined) {
        for (const one of verdicts) await one.settle('failed');
        return { decision: 'decline' };
      }
      verdicts.push(verdict);
    }
    allowed.set(itemId, [...(allowed.get(itemId) ?? []), ...verdicts]);
    return { decision: verdicts.length === 0 ? 'decline' : 'accept' };
  };

  const command = async (params: Json): Promise<Json> => {
    const text = textOf(params.command);
    const { kind, networkApprovalContext, additionalPermissions, cwd } = params;
    // A running command gets no input, and the sandbox gets no additional permissions.
    const isPlain = (kind ?? 'command') === 'command' && !networkApprovalContext && !additionalPermissions;
    if (text === undefined || !isPlain) return { decision: 'decline' };
    const isReading = listOf(params.commandActions).every(
      (action) => isRecord(action) && reading.has(textOf(action.type) ?? ''),
    );
    if (isPlanning() && !(isReading && listOf(params.commandActions).length > 0))
      return { decision: 'decline' };
    // Relative paths of a rule are those of the workspace.
    if (textOf(cwd)?.replace(/\/$/, '') !== workspace) return { decision: 'decline' };
    return decide(textOf(params.itemId) ?? '', [{ kind: 'execute', command: text }]);
  };

  const files = async (params: Json): Promise<Json> => {
    const itemId = textOf(params.itemId) ?? '';
    const item = items.get(itemId);
    if (item === undefined || params.grantRoot || isPlanning()) return { decision: 'decline' };
    const uses = usesOf(item);
    return uses === undefined ? { decision: 'decline' } : decide(itemId, uses);
  };

  return {
    async answer(method, params) {
      switch (method) {
        case 'item/commandExecution/requestApproval':
          return command(params);
        case 'item/fileChange/requestApproval':
          return files(params);
        case 'item/permissions/requestApproval':
          return { permissions: {}, scope: 'turn' };
        case 'item/tool/requestUserInput':
          return { answers: {} };
        case 'mcpServer/elicitation/request':
          return { action: 'decline', content: null, _meta: null };
        case 'execCommandApproval':
        case 'applyPatchApproval':
          return { decision: { denied: { rejection: 'not in this form' } } };
        default:
          return undefined;
      }
    },
    began(item) {
      const id = textOf(item.id);
      if (id === undefined || item.type !== 'fileChange') return;
      const [oldest] = items.keys();
      if (items.size >= maxItems && oldest !== undefined) items.delete(oldest);
      items.set(id, item);
    },
    async ended(item) {
      const id = textOf(item.id) ?? '';
      items.delete(id);
      const verdicts = allowed.get(id) ?? [];
      allowed.delete(id);
      const { exitCode } = item;
      const isDone = item.status === 'completed' && (typeof exitCode !== 'number' || exitCode === 0);
      for (const verdict of verdicts)
        await verdict.settle(isDone ? 'done' : 'failed', typeof exitCode === 'number' ? exitCode : undefined);
    },
  };
}

/** Returns the uses of a file change, file by file; `undefined` if one cannot be determined. */
function usesOf(item: Json): readonly HandUse[] | undefined {
  const uses: HandUse[] = [];
  for (const change of listOf(item.changes)) {
    const path = isRecord(change) ? textOf(change.path) : undefined;
    if (!isRecord(change) || path === undefined || !isRecord(change.kind)) return undefined;
    const { type, move_path: target } = change.kind;
    const bytes = Buffer.from(textOf(change.diff) ?? '');
    if (type === 'delete') uses.push({ kind: 'delete', path });
    else if (type === 'add' || (type === 'update' && (target === null || target === undefined)))
      uses.push({ kind: 'write', path, bytes });
    else if (type === 'update' && typeof target === 'string')
      uses.push({ kind: 'delete', path }, { kind: 'write', path: target, bytes });
    else return undefined;
  }
  return uses;
}
