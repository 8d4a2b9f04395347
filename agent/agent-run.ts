import type { EffectiveIntentSpec } from '../core/interfaces/intentspec.gen.ts';
import type { Scope } from '../core/interfaces/patch-set.ts';
import type { SandboxBackend } from '../core/interfaces/sandbox.ts';
import type { Worker } from '../core/interfaces/worker.ts';
import type { Outside } from '../workspace/egress/outside.ts';
import type { Base } from '../workspace/git/resolve-commit.ts';
import type { Scratch } from '../workspace/git/scratch.ts';
import type { LanguageServer } from './language-servers/language-server.ts';
import type { OpenModel } from './model-loop/open-model.ts';

/** The parts of an engine's run that the tools of its workers use. */
export interface AgentRun {
  readonly identity: {
    readonly runId: string;
    readonly contract: { readonly digest: string; readonly effective: EffectiveIntentSpec };
    readonly scope: Scope;
  };
  readonly environment: {
    readonly sandbox: SandboxBackend;
    readonly base: Base;
    readonly config: {
      readonly checks: { readonly maxMemoryMb: number };
      readonly workspace: { readonly history: number };
      readonly lsp: ReadonlyMap<string, LanguageServer>;
    };
  };
  readonly services: {
    /** Holds the trees of the run's workspaces. */
    readonly scratch: Scratch;
    readonly privateRoot: string;
    readonly settings: { readonly outside?: Outside; readonly commands?: CommandBoard };
    readonly signal: AbortSignal;
    readonly worker: Worker | undefined;
    readonly model: OpenModel | undefined;
  };
}

/** A command in the background, for a person. */
interface BoardCommand {
  readonly command: string;
  /** How it ended; `undefined` while it runs. */
  readonly how: () => string | undefined;
  /** What it printed since the last call; masked. */
  readonly printed: () => string;
  readonly stop: () => Promise<void>;
}

/** The commands in the background of all attempts of a session, numbered from 1. */
export interface CommandBoard {
  add(one: BoardCommand): void;
  list(): readonly (BoardCommand & { readonly id: string })[];
}
