// Reloads a page that shows work in progress.
"use strict";
setTimeout(() => location.reload(), 3000);
