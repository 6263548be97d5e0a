"""QBETS: bounds of how long jobs wait in queues, learnt from a log, told at submission (Nurmi 2009, chapter 4)."""
