/** The names and words that replace personal data. */
export const FIRST_NAMES = `
  Alba Amir Anouk Arlo Bela Bodil Caleb Carys Dario Delia Edda Eino Fabia Finn Gala Gwen Hanno
  Hilda Idris Ilka Jorah Juna Kasia Kian Lars Liv Maren Milo Nadia Nils Odile Orin Petra Quinn
  Rania Remo Selma Soren Tamsin Tove Ulla Urs Vera Viggo Wanda Willem Xenia Yara Yves Zeno
`
  .trim()
  .split(/\s+/)

export const LAST_NAMES = `
  Aldous Barrow Birch Calder Corvin Dahl Dorsey Eklund Elwood Fairley Fenwick Garrow Granger
  Halden Holt Ingram Ivers Jarrow Keller Kestrel Larkin Lindow Marlow Merrin Norden Nyquist Oakes
  Orrin Penrose Quill Rowan Rushby Sayer Selwyn Tarrant Thorne Upton Vance Verner Wexley Whitlow
  Yarrow Yorke Zeller
`
  .trim()
  .split(/\s+/)

export const WORDS = `
  a ad ac at et eu id in ob ut aut cum dum est nec nam non per pro qua quo sed sit sub tam vel
  amet ante arcu diam dolo duis elit enim erat eros fuga illo iste just leo modi nibh nisl nunc
  odio orci quam quia quis risus saepe sint urna vero augue autem dolor donec earum fusce ipsum
  justo lacus lorem magna massa metus morbi neque nulla omnis porta purus rerum sapien semper
  tellus tempor turpis varius veniam viverra aenean auctor congue cursus egestas lacinia lectus
  libero luctus mattis mauris mollis ornare platea posuere pretium sagittis sodales tincidunt
  faucibus finibus gravida habitant interdum lobortis maecenas malesuada molestie phasellus
  placerat pulvinar sollicitudin suspendisse ullamcorper vestibulum
`
  .trim()
  .split(/\s+/)
