// The order of what the site's search finds. Sphinx reads this in place of its own numbers (html_search_scorer): a page that answers
// what people search for (search_words.yaml) comes first, pages that are made from the code come last.
const answers = ANSWERS;

const stemsOf = (text) => {
  const stemmer = new Stemmer();
  return new Set(splitQuery(text.toLowerCase()).filter((word) => !stopwords.has(word)).map((word) => stemmer.stemWord(word)));
};

// How well a page's words answer a query: 1 where they are the query, less where they are some of it or say more.
const matchOf = (page, query) => {
  let best = 0;
  for (const phrase of answers[page] || []) {
    const stems = stemsOf(phrase);
    const common = [...stems].filter((stem) => query.has(stem)).length;
    best = Math.max(best, (common / query.size) * (common / stems.size));
  }
  return best;
};

var Scorer = {
  score: ([page, title, anchor, descr, score]) => {
    const query = stemsOf(new URLSearchParams(window.location.search).get("q") || "");
    const isMade = page.startsWith("made/") || page.startsWith("formats/tables/");
    const match = query.size ? matchOf(page, query) : 0;
    const words = query.size ? [...stemsOf(title)].filter((stem) => query.has(stem)).length / query.size : 0;
    return (isMade && match < 0.5 ? score / 4 : score) + 40 * match + 10 * words;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
