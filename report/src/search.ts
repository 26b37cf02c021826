// What people type into a search field.

/** All words must occur, in any case; a number after "block" or "op" must be that very number. */
export function matcher(text: string): (candidate: string) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const tests: ((candidate: string) => boolean)[] = [];
  for (let i = 0; i < words.length; ++i) {
    const word = words[i];
    if ((word === "block" || word === "op") && /^\d+$/.test(words[i + 1] ?? "")) {
      const exact = new RegExp(`\\b${word} ${words[i + 1]}\\b`);
      tests.push((candidate) => exact.test(candidate));
      ++i;
    } else {
      tests.push((candidate) => candidate.includes(word));
    }
  }
  return (candidate) => {
    const lower = candidate.toLowerCase();
    return tests.every((test) => test(lower));
  };
}
