// Loads a page again that says what is being done.
"use strict";
setTimeout(() => location.reload(), 3000);
