/** Where profiles come from; the first that has a name wins (document 2, Options: `--agent`). */
const agentTiers = ['project', 'user', 'embedded'] as const;
export type AgentTier = (typeof agentTiers)[number];

/** Who a model is in a session: words and limits. It can only take rights away. */
export interface AgentProfile {
  readonly name: string;
  readonly tier: AgentTier;
  /** One line. */
  readonly description: string;
  /** What the model is told; of a project's, the words of whoever wrote the repository. */
  readonly instructions: string;
  /** Whether a session may be started with it; else only another agent calls it. */
  readonly primary: boolean;
  /** `any`: that of the session. */
  readonly context: 'any' | 'dev' | 'review' | 'research';
  /** `read`: tools that change something are not there. */
  readonly tools: 'all' | 'read';
  /** Absent: the session's own model. */
  readonly binding?: AgentBinding;
}

/** `provider/model[@variant]`. */
export interface AgentBinding {
  readonly provider: string;
  readonly model: string;
  /** How hard it thinks, where its provider has a flag for that. */
  readonly variant?: string;
}

/** What a profile may be called; its file is `<name>.toml`. */
export function isAgentName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(text);
}
