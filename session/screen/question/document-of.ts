import type { Asked } from './asked.ts';

/** The document of a question without the heading that says what the question is called already. */
export function documentOf({ title = '', description = '' }: Pick<Asked, 'title' | 'description'>): string {
  const [head = '', ...rest] = description.split('\n');
  return head === `# ${title}` ? rest.join('\n').trimStart() : description;
}

/** A document whose first part, before its first heading, says whose it is and of when: what it says, and that. */
export function documentParts(document: string): { readonly body: string; readonly about: string } {
  const at = document.search(/^## /m);
  return at < 0 ? { body: document, about: '' } : { body: document.slice(at), about: document.slice(0, at) };
}
