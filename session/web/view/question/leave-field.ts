/** Puts the focus into a field that was asked for; a ref, so that it does so once. */
export function focusOnce(field: HTMLElement | null): void {
  field?.focus();
}

/** From a field back to its card, whose keys answer: nothing is lost, and Escape stops no turn from in there. */
export function leaveOn(...keys: readonly string[]): (event: KeyboardEvent) => void {
  return (event) => {
    if (!keys.includes(event.key) || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    (event.currentTarget as Element).closest<HTMLElement>('.card')?.focus();
  };
}
