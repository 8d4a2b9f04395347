/** Longer ones are made up anew: an id is a name, not a place to put things. */
const maxLength = 256;

/** Ids for the calls of one message: the vendor's own, or `call-1`, `call-2`… where it gives none, or one twice. */
export function callIds(): (given: string) => string {
  const taken = new Set<string>();
  let calls = 0;
  return (given) => {
    calls += 1;
    let id = given;
    for (let next = calls; id === '' || id.length > maxLength || taken.has(id); next += 1)
      id = `call-${next}`;
    taken.add(id);
    return id;
  };
}
