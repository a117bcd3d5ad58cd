"""Make pipelines faster and check them: BLAS, conversion, parity, and the doctor."""
