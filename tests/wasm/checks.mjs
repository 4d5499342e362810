// Counts checks that pass; one that fails sets the program's exit code.

let passed = 0;

export const check = async (title, test) => {
  try {
    await test();
    ++passed;
  } catch (error) {
    console.error(`FAILED: ${title}: ${error.message}`);
    process.exitCode = 1;
  }
};

export const tellPassed = of => console.log(`${of}: ${passed} checks passed`);
